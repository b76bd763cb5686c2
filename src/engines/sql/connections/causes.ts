/**
 * The first error in the chain of causes, outermost first, for which `isSo` holds: libraries wrap the errors of their drivers.
 */
export function causeThat(thrown: unknown, isSo: (thrown: unknown) => boolean): unknown {
  const seen = new Set<unknown>()
  for (let error = thrown; error instanceof Error && !seen.has(error); error = error.cause) {
    if (isSo(error)) return error
    seen.add(error)
  }
  return undefined
}
