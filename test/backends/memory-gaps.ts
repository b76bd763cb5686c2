/** What the conformance suite does not ask of the memory backend, and why not. */
export const memoryGaps: Readonly<Record<string, string>> = { 'ending a job in a transaction': 'it is no SQL database' }
