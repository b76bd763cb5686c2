/** @type {import('next').NextConfig} */
export default {
  // Treadle starts threads and loads drivers by path, so it must stay outside of the bundle.
  serverExternalPackages: ['treadle'],
}
