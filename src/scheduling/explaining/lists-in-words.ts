/** Lists ascending numbers in words: "0 to 5, 10 and 20", "0, 7, 14, …, 56". */
export function listed(values: readonly number[], nameOf: (value: number) => string = String): string {
  return joined(listItems(values, nameOf), 'and')
}

/** The items of such a list, for combining with others. */
export function listItems(values: readonly number[], nameOf: (value: number) => string): string[] {
  if (isLongProgression(values)) {
    const names = [...values.slice(0, 3), ...values.slice(-1)].map(nameOf)
    return [[...names.slice(0, 3), '…', names[3]].join(', ')]
  }
  return runsOf(values).flatMap(({ first, last }) => {
    if (last - first >= 2) return [`${nameOf(first)} to ${nameOf(last)}`]
    return first === last ? [nameOf(first)] : [nameOf(first), nameOf(last)]
  })
}

export function joined(items: readonly string[], conjunction: 'and' | 'or'): string {
  if (items.length < 2) return items.join('')
  return `${items.slice(0, -1).join(', ')} ${conjunction} ${items.at(-1)}`
}

/** Consecutive numbers. */
export interface Run {
  readonly first: number
  readonly last: number
}

export function runsOf(values: readonly number[]): Run[] {
  const runs: Run[] = []
  for (const value of values) {
    const run = runs.at(-1)
    if (run !== undefined && run.last === value - 1) runs[runs.length - 1] = { first: run.first, last: value }
    else runs.push({ first: value, last: value })
  }
  return runs
}

/** The values as a single run of at least three, or null if they are not one. */
export function singleRun(values: readonly number[]): Run | null {
  const [run, ...others] = runsOf(values)
  return run !== undefined && others.length === 0 && run.last - run.first >= 2 ? run : null
}

/** "1st", "22nd", "13th". */
export function ordinal(value: number): string {
  const suffixes: Record<number, string> = { 1: 'st', 2: 'nd', 3: 'rd' }
  const isTeen = value % 100 >= 11 && value % 100 <= 13
  return `${value}${isTeen ? 'th' : (suffixes[value % 10] ?? 'th')}`
}

export function counted(amount: number, unit: string): string {
  return `${amount} ${unit}${amount === 1 ? '' : 's'}`
}

function isLongProgression(values: readonly number[]): boolean {
  const step = values[1]! - values[0]!
  return values.length >= 5 && step > 1 && values.every((value, index) => value === values[0]! + index * step)
}
