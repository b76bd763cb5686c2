/**
 * Mock jobs (`mockRequest`) are only handed out to clients that ask for them, and never to a worker that does not use the
 * protocol. So they are stored under a key that is not a valid name.
 */
export const mockMark = 'mock~'

export function mockKey(name: string): string {
  return mockMark + name
}

export function isMockKey(job: string): boolean {
  return job.startsWith(mockMark)
}

/** The name of a job in the protocol. */
export function wireNameOf(job: string): string {
  return isMockKey(job) ? job.slice(mockMark.length) : job
}
