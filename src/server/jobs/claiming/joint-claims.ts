import type { Lease } from '../../../queue/contract/contract.ts'
import type { KeyPattern } from '../../../queue/rules/claiming/key-pattern.ts'
import type { Demand, WaitingLine } from './waiting-line.ts'

/** Up to this many lines each have a claim of their own. */
const fewLines = 8
/** Maximum number of jobs in a claim for several lines. Those that turn out to be for one waiter are put back. */
const mostTogether = 100

/** Lines for different jobs that one claim can serve, and that claim. */
export interface JointClaim {
  readonly lines: readonly [WaitingLine, ...WaitingLine[]]
  /** Passed by all that any of them waits for. */
  readonly keys: KeyPattern
  readonly wanted: number
}

/**
 * A claim for all hopeful lines that differ from this one only in the names and patterns that they wait for; null if they are
 * few. Otherwise each job that becomes ready would cost a claim for every pattern that someone waits for.
 */
export function jointClaimOf(line: WaitingLine, lines: Iterable<WaitingLine>): JointClaim | null {
  const { terms } = line
  if (terms === null) return null
  const others = [...lines].filter((each) => each !== line && each.terms === terms && each.isHopeful && !each.isEmpty)
  if (others.length < fewLines) return null
  const joined = [line, ...others] as const
  const tests = joined.flatMap(({ demand: { keys } }) => keys)
  const [first, names, globs] = [tests[0], tests.flatMap((test) => test.names), tests.flatMap((test) => test.globs)]
  const wanted = joined.reduce((sum, { firstWants }) => sum + firstWants, 0)
  return first === undefined
    ? null
    : { lines: joined, keys: [{ ...first, names, globs }], wanted: Math.min(wanted, mostTogether) }
}

/**
 * Gives each job to the waiter who came first of all who wait for it, whatever line it was claimed for: jobs may arrive between
 * the claims for two lines. Returns the jobs that nobody waits for.
 */
export function shareOut(leases: readonly Lease[], demand: Demand, lines: ReadonlyMap<string, WaitingLine>): readonly Lease[] {
  const unwanted: Lease[] = []
  /** What the first waiter of a line has got so far. */
  const shares = new Map<WaitingLine, readonly Lease[]>()
  for (const lease of leases) {
    const line = firstFor(lease, demand, lines)
    if (line === undefined) {
      unwanted.push(lease)
      continue
    }
    const share = [...(shares.get(line) ?? []), lease]
    if (share.length < line.firstWants) shares.set(line, share)
    else {
      shares.delete(line)
      line.serve(share)
    }
  }
  for (const [line, share] of shares) line.serve(share)
  return unwanted
}

function firstFor(lease: Lease, demand: Demand, lines: ReadonlyMap<string, WaitingLine>): WaitingLine | undefined {
  let first: WaitingLine | undefined
  for (const line of lines.values()) {
    if (line.head < (first?.head ?? Number.POSITIVE_INFINITY) && line.admits(lease, demand)) first = line
  }
  return first
}
