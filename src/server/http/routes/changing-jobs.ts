import type { JobChange } from '../../../client/api/job-shapes.ts'
import { parseInstant } from '../../../core/time/instant.ts'
import { sealOf } from '../../../envelope/envelope.ts'
import { reseal } from '../../../envelope/reseal.ts'
import { openRecord } from '../../../execution/admit/verifying.ts'
import { cancelJob } from '../../../execution/end/cancelling.ts'
import { isFinal } from '../../../queue/contract/job-state.ts'
import type { JobRecord } from '../../../queue/contract/store.ts'
import type { Grant } from '../../access/grant.ts'
import type { ServedExecution } from '../../jobs/served-execution.ts'
import type { HttpDeps } from '../deps.ts'
import type { Handlers } from '../route.ts'
import { SeenJobs } from '../seen-jobs.ts'
import { HttpProblem, invalidRequest, noSuchJob } from '../wire/http-problem.ts'
import { jobJson } from '../wire/job-json.ts'
import { memberTexts } from '../wire/json-text.ts'

type Names = 'changeJob' | 'deleteJob' | 'cancelJob' | 'retryJob' | 'replayDeadJob'

/** Changes existing jobs. */
export function changingJobs({ jobs, service: { creating, execution, queue } }: HttpDeps): Pick<Handlers, Names> {
  const { store } = execution

  const find = async (id: string): Promise<JobRecord> => {
    const record = await store.get(id)
    if (record === null) throw noSuchJob(id)
    return record
  }

  const shown = async (id: string, grant: Grant) => jobJson(await new SeenJobs(grant, store).of(await find(id)))

  const putBack = async (id: string, grant: Grant) => {
    const found = await find(id)
    // A job that does not match its signature would be rejected when it is claimed.
    await openRecord(found, execution, (why) => rejected(id, why))
    const [answer] = await store.retry([id])
    if (answer === 'missing') throw noSuchJob(id)
    if (answer === 'active') throw new HttpProblem('job-not-ended', `Job ${id} has not ended: there is nothing to put back`)
    if (answer === 'conflict') {
      const holder = await new SeenJobs(grant, store).holderOf(id)
      throw new HttpProblem('unique-key-taken', `Job ${id} was left alone: ${holder} has its unique key`)
    }
    return { status: 200, body: await shown(id, grant) } as const
  }

  return {
    changeJob: async ({ params: { id }, body, exchange }) => {
      if (Object.keys(body).length === 0) {
        throw invalidRequest([{ pointer: '', detail: 'must contain at least one of runAt, priority and payload' }])
      }
      const found = await find(id)
      const payloadText = memberTexts(exchange.text).get('payload')
      if (payloadText !== undefined) await creating.checkPayload(found.job, payloadText)
      await change(found, { ...body, payloadText }, execution, find)
      return { status: 200, body: await shown(id, exchange.grant) }
    },

    cancelJob: async ({ params: { id } }) => {
      if (!(await jobs.handle(id).cancel())) throw new HttpProblem('job-ended', `Job ${id} has ended already`)
      const outcome = (await store.get(id))?.state === 'running' ? 'requested' : 'cancelled'
      return { status: 200, body: { id, outcome } }
    },

    deleteJob: async ({ params: { id } }) => {
      let { state } = await find(id)
      if (state !== 'running' && !isFinal(state)) {
        await cancelJob(id, { ...queue, store })
        state = (await store.get(id))?.state ?? 'cancelled'
      }
      if (!isFinal(state)) throw notWaiting(id, 'a worker has it. Cancel it, and delete it when it has ended')
      await store.remove({ state, ids: [id], limit: 1 })
      return { status: 204, body: undefined }
    },

    retryJob: async ({ params: { id }, exchange: { grant } }) => putBack(id, grant),

    replayDeadJob: async ({ params: { id }, exchange: { grant } }) => {
      const { state } = await find(id)
      if (state !== 'dead') throw new HttpProblem('job-not-ended', `Job ${id} is ${state}, and not dead`)
      return putBack(id, grant)
    },
  }
}

/** Maximum number of attempts to change a job that is changed concurrently. */
const mostRounds = 10

interface Changes extends JobChange {
  /** The payload as it was sent. */
  readonly payloadText: string | undefined
}

async function change(
  found: JobRecord,
  changes: Changes,
  execution: ServedExecution,
  find: (id: string) => Promise<JobRecord>,
): Promise<void> {
  let record = found
  const { id } = record
  const runAt = changes.runAt === undefined ? undefined : parseInstant(changes.runAt, 'runAt')
  for (let round = 0; round < mostRounds; round++) {
    const opened = await openRecord(record, execution, (why) => rejected(id, why))
    const { priority = opened.identity.priority } = changes
    const contents = { identity: { priority }, payload: changes.payloadText ?? opened.text, runAt: runAt ?? record.runAt }
    const envelope = reseal(opened, record, contents, execution.keys)
    const kept = runAt === undefined ? ({ keepsTime: true } as const) : {}
    const [answer] = await execution.store.amend([{ id, expected: sealOf(record), envelope, ...kept }])
    if (answer === 'amended') return
    if (answer === 'missing') throw noSuchJob(id)
    if (answer === 'claimed') throw notWaiting(id, 'a worker has it')
    if (answer === 'ended') throw notWaiting(id, 'it has ended')
    record = await find(id)
  }
  throw new HttpProblem('unavailable', `Job ${id} is being changed by others`, { headers: { 'retry-after': '1' } })
}

function notWaiting(id: string, why: string): HttpProblem {
  return new HttpProblem('job-not-waiting', `Job ${id} is no longer waiting: ${why}`)
}

function rejected(id: string, why: string): HttpProblem {
  return new HttpProblem('job-not-waiting', `Job ${id} is rejected, and can be neither changed nor put back: ${why}`)
}
