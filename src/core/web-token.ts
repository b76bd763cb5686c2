/** A random text of 32 characters (128 bits) that cannot be guessed, also where there is no Node. */
export function webToken(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
