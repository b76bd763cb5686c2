/** What the conformance suite does not ask of the redis backend, and why not. */
export const redisGaps: Readonly<Record<string, string>> = {
  'ending a job in a transaction': 'it is no SQL database',
}
