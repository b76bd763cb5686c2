import type { LeaseRequest, Rate, Settlement, SettleReceipt } from '../../queue/contract/contract.ts'
import type { ClaimRules } from '../../queue/contract/limits.ts'
import type { KeyPattern } from '../../queue/rules/claiming/key-pattern.ts'
import { leaseAnswer } from './answers.ts'
import { envelopeOf } from './envelopes.ts'
import type { LimitsSpec, OperationOf, Performers, SettleSpec, ShareSpec } from './program.ts'
import { nameOf, ownerOf, queueOf, type Stage } from './stage.ts'

type Names = 'advance' | 'send' | 'lease' | 'settle' | 'begin' | 'extend' | 'reap' | 'report'

/** The life cycle of jobs: sending, claiming and ending. */
export const jobOperations: Performers<Names, Stage> = {
  // The caller moves the clock once for all backends.
  advance: async () => null,
  send: (stage, { jobs = [] }) => stage.backend.send(jobs.map((job) => envelopeOf(stage, job))),
  lease: async (stage, operation) => {
    const batch = await stage.backend.lease(leaseRequest(stage, operation))
    for (const lease of batch.leases) stage.noteLease(lease)
    return leaseAnswer(stage, batch)
  },
  settle: (stage, { leases = [] }) => settle(stage, leases),
  begin: (stage, { leases = [] }) => stage.backend.begin(leases.map((lease) => stage.tokenOf(lease))),
  extend: (stage, { leases = [], ms = 1_000, alone }) => {
    const tokens = leases.map((lease) => stage.tokenOf(lease))
    return stage.backend.extend(tokens, ms, alone)
  },
  reap: (stage, { maxRescues = 2, dead = [] }) => stage.backend.reap(maxRescues, dead.map(ownerOf)),
  report: (stage, { leases = [], progress = 1 }) =>
    stage.backend.store.report(leases.map((lease) => ({ token: stage.tokenOf(lease), progress: String(progress) }))),
}

const knownNames = [0, 1, 2]

export function claimRules({ names: limits = [], queues = [] }: LimitsSpec, names: readonly number[] = knownNames): ClaimRules {
  const jobs = names.map((name) => {
    const { group, ...own } = limits[name] ?? {}
    return { job: nameOf(name), ...shareOf(own), ...(group !== undefined && { group: shareOf(group) }) }
  })
  return { jobs, queueLimits: queues.map((limit, queue) => ({ queue: queueOf(queue), ...shareOf(limit) })) }
}

function shareOf({ concurrency, rate }: ShareSpec): { readonly concurrency: number | null; readonly rate: Rate | null } {
  return {
    concurrency: concurrency ?? null,
    rate: rate === undefined ? null : { limit: rate.limit ?? 1, perMs: rate.perMs ?? 1_000 },
  }
}

function leaseRequest(stage: Stage, operation: OperationOf<'lease'>): LeaseRequest {
  const {
    owner,
    limit = 100,
    leaseMs = 1_000,
    names,
    queues,
    priority,
    ageingMs,
    maxRescues = 2,
    amongOthers,
    others,
  } = operation
  return {
    ...claimRules(operation.limits === undefined ? stage.limits : withGroupsOf(stage.limits, operation.limits), names),
    queues: queues?.map(queueOf) ?? null,
    limit,
    leaseMs,
    owner: ownerOf(owner),
    maxRescues,
    ...(priority !== undefined && { priority }),
    ...(ageingMs !== undefined && { ageingMs }),
    ...(amongOthers !== undefined && { amongOthers }),
    ...(others !== undefined && { others: others === 'all' ? [] : someNames }),
  }
}

/** A group without tokens is looked at again within a minute, so a change of its rate may take effect later. */
function withGroupsOf({ names: kept = [] }: LimitsSpec, { names = [], ...others }: LimitsSpec): LimitsSpec {
  const merged = knownNames.map((name) => {
    const { group: _, ...own } = names[name] ?? {}
    const { group } = kept[name] ?? {}
    return group === undefined ? own : { ...own, group }
  })
  return { ...others, names: merged }
}

/** A pattern that one of the names matches, and one that only the test of the others excludes. */
const someNames: KeyPattern = [{ names: [nameOf(0)], globs: ['work-*'], mark: nameOf(2), marked: 'left out' }]

/** If an end is refused because it was not signed, it is settled again with a signature, as workers do. */
async function settle(stage: Stage, specs: readonly SettleSpec[]): Promise<readonly SettleReceipt[]> {
  const receipts = [...(await stage.backend.settle(specs.map((spec) => settlementOf(stage, spec))))]
  const unsealed = specs.flatMap((spec, index) => (receipts[index] === 'unsealed' ? [{ spec, index }] : []))
  if (unsealed.length === 0) return receipts
  const again = await stage.backend.settle(unsealed.map(({ spec }) => settlementOf(stage, { ...spec, unlinked: false })))
  for (const [place, { index }] of unsealed.entries()) receipts[index] = again[place] as SettleReceipt
  return receipts
}

function settlementOf(stage: Stage, spec: SettleSpec): Settlement {
  const token = stage.tokenOf(spec)
  const { id = 0, how = 'done', delay: delayMs = 0, drop = false, reason = 'exhausted', seal = null } = spec
  const keep = !drop
  const result = spec.result === undefined ? null : String(spec.result)
  const error = { attempt: 1, at: stage.clock.now(), message: `job ${id} broke` }
  switch (how) {
    case 'done':
      return { token, kind: 'done', result, seal, keep, ...doneOptions(spec) }
    case 'retry':
      return { token, kind: 'retry', delayMs, error }
    case 'snooze':
      return { token, kind: 'snooze', delayMs }
    case 'wait':
      return { token, kind: 'wait' }
    case 'again':
      return { token, kind: 'again', envelope: envelopeOf(stage, { ...spec.as, id }) }
    case 'dead':
      return { token, kind: 'dead', reason, error, keep }
    case 'cancelled':
      return { token, kind: 'cancelled', keep }
    case 'skipped':
      return { token, kind: 'skipped', why: 'the filter said no', keep, result, seal }
  }
}

function doneOptions({ unlinked = false, alone = false, once }: SettleSpec) {
  const mark = once && {
    key: `once-${once.key ?? 0}`,
    keepMs: once.keepMs ?? 1_000,
    ...(once.result !== undefined && { result: String(once.result) }),
  }
  return {
    ...(unlinked && { unlinked: true as const }),
    ...(alone && { alone: true as const }),
    ...(mark !== undefined && { once: mark }),
  }
}
