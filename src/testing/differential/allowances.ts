import type { LeaseAnswer } from '../programs/answers.ts'
import type { OperationName } from '../programs/program.ts'

/**
 * Two correct engines may answer differently only where the contract leaves a choice. This is the complete list: both answers are
 * normalized to a form in which they must be equal.
 */
export function comparable(
  op: OperationName | 'snapshot',
  reference: unknown,
  other: unknown,
): readonly [reference: unknown, other: unknown] {
  switch (op) {
    case 'lease':
      return isClaim(reference) && isClaim(other) ? comparableClaims(reference, other) : [reference, other]
    case 'counts':
      return [comparableCounts(reference), comparableCounts(other)]
    case 'leases':
    case 'leasesOf':
      return [comparableLeases(reference), comparableLeases(other)]
    case 'mend':
      return [mended(reference), mended(other)]
    case 'revision':
      return comparableRevisions(reference, other)
    case 'standings':
      return [byName(reference), byName(other)]
    case 'snapshot':
      return [comparableSnapshot(reference), comparableSnapshot(other)]
    default:
      return [reference, other]
  }
}

/**
 * An engine may wake its workers earlier than needed, but never later. It may report a job as linked that no longer is. A claim
 * for only a few jobs may leave cancellations to the next claim, which is then due at once.
 */
function comparableClaims(reference: LeaseAnswer, other: LeaseAnswer): readonly [unknown, unknown] {
  const isSoonEnough = other.nextAt !== null && (reference.nextAt === null || other.nextAt <= reference.nextAt)
  const isTooLate = !isSoonEnough && reference.nextAt !== other.nextAt
  const isAskedAgain = other.nextAt !== null && other.nextAt <= other.now && other.cancelled.length === 0
  const other_ = {
    leases: withLinked(other.leases, reference.leases),
    cancelled: isAskedAgain ? reference.cancelled : other.cancelled,
    nextAt: isTooLate ? other.nextAt : reference.nextAt,
  }
  return [{ leases: reference.leases, cancelled: reference.cancelled, nextAt: reference.nextAt }, other_]
}

function withLinked(others: readonly object[], references: readonly object[]): readonly object[] {
  return others.map((other, index) => {
    const isLinked = 'linked' in other && other.linked === true
    const reference = references[index]
    return isLinked && reference !== undefined && 'linked' in reference ? { ...other, linked: reference.linked } : other
  })
}

function isClaim(answer: unknown): answer is LeaseAnswer {
  return typeof answer === 'object' && answer !== null && 'leases' in answer
}

/** In any order, with or without counts of zero. */
function comparableCounts(counts: unknown): unknown {
  if (!Array.isArray(counts)) return counts
  const living = counts.filter((each) => Object.values(each.counts).some((count) => count !== 0))
  return sorted(living, ({ queue, job }) => `${queue} ${job}`)
}

/** Leases of one claim, and claims of the same instant, in any order. */
function comparableLeases(leases: unknown): unknown {
  if (!Array.isArray(leases)) return leases
  return sorted(leases, ({ claimedAt, id }) => `${claimedAt} ${id}`)
}

/** How many were examined is up to the engine. */
function mended(report: unknown): unknown {
  return typeof report === 'object' && report !== null && 'changed' in report ? report.changed : report
}

/** A revision may change more often than necessary. */
function comparableRevisions(reference: unknown, other: unknown): readonly [unknown, unknown] {
  const isNew = (answer: unknown) => typeof answer === 'object' && answer !== null && 'isNew' in answer && answer.isNew === true
  return isNew(other) ? [reference, reference] : [reference, other]
}

function byName(standings: unknown): unknown {
  return Array.isArray(standings) ? sorted(standings, ({ name }) => name) : standings
}

function comparableSnapshot(whole: unknown): unknown {
  const { counts, leases, standings, ...rest } = whole as Readonly<Record<string, unknown>>
  return { ...rest, counts: comparableCounts(counts), leases: comparableLeases(leases), standings: byName(standings) }
}

function sorted<Item>(items: readonly Item[], keyOf: (item: Item) => string): readonly Item[] {
  return items.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
}
