/** Calls `stop` on the first SIGTERM or SIGINT and `abort` on each later one. Returns a function that stops listening. */
export function onTermination(stop: () => void, abort: () => void): () => void {
  let asked = false
  const listener = () => {
    if (asked) return abort()
    asked = true
    stop()
  }
  const signals = ['SIGTERM', 'SIGINT'] as const
  for (const signal of signals) process.on(signal, listener)
  return () => {
    for (const signal of signals) process.off(signal, listener)
  }
}
