/** Payloads of an ordinary size, the same for every contestant. */
export function payloads(count) {
  return Array.from({ length: count }, (_, number) => ({ to: 'ada@example.com', subject: 'Your invoice', number }))
}
