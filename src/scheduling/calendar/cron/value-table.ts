/** A set of numbers that finds the neighbours of any number; null if there is none. */
export interface ValueTable {
  has(value: number): boolean
  atOrAfter(value: number): number | null
  atOrBefore(value: number): number | null
}

/** Takes at least one value, none of them negative. */
export function valueTable(values: readonly number[]): ValueTable {
  const named = new Set(values)
  const length = Math.max(...named) + 1
  const after: (number | null)[] = new Array(length).fill(null)
  const before: (number | null)[] = new Array(length).fill(null)
  for (let value = length - 1; value >= 0; value--) after[value] = named.has(value) ? value : (after[value + 1] ?? null)
  for (let value = 0; value < length; value++) before[value] = named.has(value) ? value : (before[value - 1] ?? null)
  return {
    has: (value) => after[value] === value,
    atOrAfter: (value) => (value < 0 ? after[0] : after[value]) ?? null,
    atOrBefore: (value) => (value < length ? before[value] : before[length - 1]) ?? null,
  }
}

export const everyValue: ValueTable = { has: () => true, atOrAfter: (value) => value, atOrBefore: (value) => value }
