/** The rate of `count` things done by `work`, per second. */
export async function rateOf(count, work) {
  const start = performance.now()
  await work()
  return (count / (performance.now() - start)) * 1000
}

/** Milliseconds since 1970 with a fraction, comparable between the processes of one machine. */
export function instant() {
  return performance.timeOrigin + performance.now()
}
