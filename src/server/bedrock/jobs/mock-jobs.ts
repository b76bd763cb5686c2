/**
 * Jobs for tests (`mockRequest`) are only given to clients that ask for them, and never to a worker that knows nothing of the
 * protocol: so they are kept under a key that is no name.
 */
export const mockMark = 'mock~'

export function mockKey(name: string): string {
  return mockMark + name
}

export function isMockKey(job: string): boolean {
  return job.startsWith(mockMark)
}

/** What the protocol calls a job. */
export function wireNameOf(job: string): string {
  return isMockKey(job) ? job.slice(mockMark.length) : job
}
