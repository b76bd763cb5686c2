/** An unguessable random string of 32 characters (128 bits), available outside Node too. */
export function webToken(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
