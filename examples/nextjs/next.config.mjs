/** @type {import('next').NextConfig} */
export default {
  // Treadle starts threads and loads drivers by their paths, so Node loads it as it is, and no bundle holds it.
  serverExternalPackages: ['treadle'],
}
