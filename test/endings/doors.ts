import type { Treadle } from '../../src/app/treadle.ts'
import { PermanentError } from '../../src/core/errors.ts'
import type { Json } from '../../src/core/text/json.ts'
import type { JobBuilder } from '../../src/definition/builder.ts'
import type { JobContext } from '../../src/definition/context.ts'
import { openEnvelope } from '../../src/envelope/envelope.ts'
import { KeyRing } from '../../src/envelope/keys/key-ring.ts'
import { jobOf, openHandedOn } from '../../src/execution/admit/handed-on.ts'
import { type AttackedQueue, signingKey } from '../forging/attacked-queue.ts'
import type { Served } from '../server/bedrock/served.ts'
import { until } from '../world.ts'

/** How whoever ran a job says that it went. */
export type Report =
  | { readonly kind: 'done'; readonly result?: { [name: string]: Json } }
  /** It may be tried again. */
  | { readonly kind: 'failed' }
  | { readonly kind: 'permanent' }
  /** Somebody asks it to stop while it runs, and it does. */
  | { readonly kind: 'cancelled' }

export const why = 'no luck'

export type Handler = (payload: unknown, context: JobContext<unknown>) => Promise<unknown>

/** The jobs of the program: the same ones behind every door. */
export type Define = (jobs: Treadle, handler: Handler) => JobBuilder<never, unknown, unknown> | undefined

/** Claims the next job of this name, lets something happen while it runs, and ends it. False where there was none. */
export type Run = (report: Report, during?: (id: string) => Promise<void>) => Promise<boolean>

/** Everybody who can run a job and say how that went. */
export const doors = {
  worker: async ({ jobs, clock }: AttackedQueue, name: string, define: Define): Promise<Run> => {
    let next: { readonly report: Report; readonly during: (id: string) => Promise<void> } | undefined
    let hasRun = false
    define(jobs, async (_, context) => {
      const { report, during } = next as NonNullable<typeof next>
      hasRun = true
      await during(context.id)
      switch (report.kind) {
        case 'done':
          return report.result
        case 'failed':
          throw new Error(why)
        case 'permanent':
          throw new PermanentError(why)
        case 'cancelled': {
          const { signal } = context
          await jobs.handle(context.id).cancel()
          await until(async () => {
            await clock.advance(1_000)
            return signal.aborted
          })
          throw signal.reason
        }
      }
    })
    return async (report, during = async () => {}) => {
      next = { report, during }
      hasRun = false
      await jobs.run({ jobs: [name], limit: 1, scheduler: false, lease: '1h' })
      return hasRun
    }
  },

  http: async (queue: AttackedQueue, name: string, define: Define): Promise<Run> => {
    const { client, jobs } = await queue.http()
    define(jobs, unused)
    return async (report, during = async () => {}) => {
      const [lease] = await client.leases.take({ jobs: [name], lease: '1h' })
      if (lease === undefined) return false
      const { id, token } = lease
      await during(id)
      const error = { message: why }
      if (report.kind === 'cancelled') await jobs.handle(id).cancel()
      const ended = {
        done: { outcome: 'done', ...(report.kind === 'done' && report.result && { result: report.result }) },
        failed: { outcome: 'fail', error },
        permanent: { outcome: 'dead', error },
        cancelled: { outcome: 'cancelled' },
      } as const
      await client.leases.settleMany([{ id, token, ...ended[report.kind] }])
      return true
    }
  },

  bedrock: async (queue: AttackedQueue, name: string, define: Define): Promise<Run> => {
    define(queue.jobs, unused)
    const { ask } = await bedrockOf(queue)
    return async (report, during = async () => {}) => {
      const token = workToken
      const { status, json } = await ask('GetJob', { name, token })
      if (status !== '200 OK') return false
      const { jobID } = json
      await during(await queue.idOf(jobID))
      const given = report.kind === 'done' ? report.result : { error: why }
      const data = given === undefined ? {} : { data: given }
      await ask(report.kind === 'done' ? 'FinishJob' : 'FailJob', { jobID, token, ...data })
      return true
    }
  },
}

export type Door = keyof typeof doors

const workToken = 'a token of those who work'
const servers = new WeakMap<AttackedQueue, Promise<Served>>()

/** The one TCP server of a queue, at which anybody who operates it may also make jobs. */
export async function bedrockOf(queue: AttackedQueue): Promise<Served> {
  const found =
    servers.get(queue) ??
    queue.bedrock({
      tokens: [
        { role: 'work', secret: workToken },
        { role: 'operate', secret: operateToken },
      ],
    })
  servers.set(queue, found)
  return found
}

export const operateToken = 'a token of those who operate'

const unused: Handler = () => Promise.reject(new Error('it is run by a client'))

const keys = new KeyRing([signingKey])

/** All that the queue has of its jobs, but for what differs from run to run: ids, tokens and names of workers. */
export async function storedJobs({ backend }: AttackedQueue) {
  const records = await backend.store.list({ limit: 100 })
  return records
    .map((record) => {
      const { job, state, result, payload, meta, reason, attempts, rescues, runAt, startedAt, finishedAt, cancelRequested } =
        record
      return {
        // The id of a parent is another one each time.
        meta: JSON.stringify(meta).replace(/"parent":"[^"]*"/, '"parent":"its parent"'),
        ...{ job, state, result, payload, reason, attempts, rescues, runAt, startedAt, finishedAt, cancelRequested },
        errors: record.errors.map(({ message, attempt, at }) => ({ message, attempt, at })),
        isGenuine: isSound(() => openEnvelope(record, keys)),
        isSealed: record.seal !== null && isSound(() => openHandedOn(record, jobOf(record), keys)),
      }
    })
    .sort((a, b) => a.job.localeCompare(b.job) || a.runAt - b.runAt || a.payload.localeCompare(b.payload))
}

function isSound(look: () => unknown): boolean {
  try {
    look()
    return true
  } catch {
    return false
  }
}
