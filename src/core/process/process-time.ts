/** Milliseconds since some moment that is the same for all threads and programs of the machine. Nobody can set it. */
export function monotonicMs(): number {
  const [seconds, nanoseconds] = process.hrtime()
  return seconds * 1_000 + nanoseconds / 1e6
}

/** What this process has computed since it began, in all its threads. */
export function computedMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}
