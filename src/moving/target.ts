import { isPassing, messageOf } from '../core/errors.ts'
import { digest } from '../core/text/digest.ts'
import { parseIdentity } from '../envelope/envelope.ts'
import type { QueueBackend } from '../queue/contract/contract.ts'
import { isFinal } from '../queue/contract/job-state.ts'
import type { Fact, MovedJob, MovedUnit, Parcel, Refusal, Transfer } from '../queue/contract/transfer.ts'

/** Where jobs are moved to. */
export interface Target {
  identity(): Promise<string>
  /** What it can never take, whatever it contains. For display. */
  readonly cannotHold: readonly string[]
  /** Returns the same answer each time for the same parcel, if the target can remember it. */
  unpack(parcel: Parcel): Promise<readonly Refusal[]>
  learn(facts: readonly Fact[]): Promise<void>
}

/** `name` must be the same each time this queue is opened. */
export function targetOf(backend: QueueBackend, name: string): Target {
  return backend.transfer === undefined ? brokerTarget(backend, name) : queueTarget(backend.transfer)
}

function queueTarget(transfer: Transfer): Target {
  return {
    cannotHold: [],
    identity: () => transfer.identity(),
    learn: (facts) => transfer.learn(facts),
    async unpack(parcel) {
      try {
        // If it failed after it was written, the second call returns the answer.
        return await transfer.unpack(parcel).catch((thrown) => {
          if (isPassing(thrown)) throw thrown
          return transfer.unpack(parcel)
        })
      } catch (thrown) {
        if (isPassing(thrown) || parcel.units.length === 0) throw thrown
        return await unpackOneByOne(transfer, parcel)
      }
    },
  }
}

/** Keeps one job that cannot be stored from blocking the others. Each part is unpacked once, like a parcel. */
async function unpackOneByOne(transfer: Transfer, parcel: Parcel): Promise<readonly Refusal[]> {
  await transfer.unpack({ ...parcel, id: `${parcel.id}/0`, units: [] })
  const refusals: Refusal[] = []
  for (const [index, unit] of parcel.units.entries()) {
    const part = { ...parcel, id: `${parcel.id}/${index + 1}`, paused: [], schedules: [], units: [unit] }
    try {
      refusals.push(...(await transfer.unpack(part)))
    } catch (thrown) {
      if (isPassing(thrown)) throw thrown
      refusals.push(refused(unit, messageOf(thrown)))
    }
  }
  return refusals
}

function refused({ jobs }: MovedUnit, why: string): Refusal {
  return { id: jobs[0]?.id ?? '', jobs: jobs.length, why }
}

/** A broker takes envelopes and remembers nothing: a parcel that was being sent when the move was killed is sent again. */
function brokerTarget(backend: QueueBackend, name: string): Target {
  const { kind } = backend
  return {
    identity: async () => `${kind}:${digest(name)}`,
    cannotHold: [
      'workflows',
      'ended jobs',
      'schedules and their runs',
      'jobs with a unique key, an idempotency key or a number',
      'jobs that must run alone',
      'jobs that were attempted before',
      'keys that outlive their jobs',
      'pauses of queues',
    ],
    learn: async () => {},
    async unpack({ units }) {
      const refusals: Refusal[] = []
      const sendable: MovedJob[] = []
      for (const unit of units) {
        const why = brokerRefusal(unit)
        if (why === null) sendable.push(unit.jobs[0] as MovedJob)
        else refusals.push(refused(unit, `${kind} ${why}`))
      }
      if (sendable.length > 0) await backend.send(sendable.map((job) => ({ ...job, uniqueKey: null, links: null })))
      return refusals
    },
  }
}

function brokerRefusal({ jobs }: MovedUnit): string | null {
  const [job] = jobs as readonly [MovedJob]
  if (jobs.length > 1 || job.links !== null) return 'has no workflows'
  if (isFinal(job.state)) return 'keeps no ended jobs'
  if (job.schedule !== null) return 'keeps no schedules'
  if (job.uniqueKey !== null || (parseIdentity(job.identity)?.idempotencyKey ?? null) !== null) return 'keeps no keys'
  if (job.number !== null) return 'keeps no numbers'
  if (job.singleInstance) return 'cannot run a job alone'
  if (job.attempts > 0 || job.rescues > 0) return 'would count its attempts from the start'
  return null
}
