/** Milliseconds since some moment that is the same for all threads and programs of the machine. It cannot be set. */
export function monotonicMs(): number {
  const [seconds, nanoseconds] = process.hrtime()
  return seconds * 1_000 + nanoseconds / 1e6
}

/** CPU time of this process since it started, across all its threads, in milliseconds. */
export function computedMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}
