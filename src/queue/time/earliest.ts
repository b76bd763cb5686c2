/** The earliest of these instants; null if there is none. */
export function earliest(instants: readonly (number | null | undefined)[]): number | null {
  return instants.reduce<number | null>((first, at) => (at != null && (first === null || at < first) ? at : first), null)
}
