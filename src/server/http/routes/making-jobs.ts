import type { NewJob } from '../../../client/api/job-shapes.ts'
import { digest } from '../../../core/text/digest.ts'
import type { DispatchOptions } from '../../../definition/dispatching/dispatch.ts'
import { wireMember } from '../../../envelope/bedrock-meta.ts'
import type { Envelope } from '../../../envelope/envelope.ts'
import type { SendReceipt } from '../../../queue/contract/contract.ts'
import { soundRepeat } from '../../../scheduling/saying/sound-repeat.ts'
import type { Grant } from '../../access/grant.ts'
import type { JobService } from '../../jobs/job-service.ts'
import type { HttpDeps } from '../deps.ts'
import type { Exchange, Handlers } from '../route.ts'
import { HttpProblem, invalidRequest } from '../wire/http-problem.ts'
import { entryTexts, memberTexts } from '../wire/json-text.ts'

/** Creates jobs. */
export function makingJobs({ service, limits }: HttpDeps): Pick<Handlers, 'createJob' | 'createJobs'> {
  return {
    createJob: async ({ body, exchange }) => {
      const once = onceOf(exchange)
      const envelope = await service.creating.seal(sealable(body, { text: exchange.text, at: 0, pointer: '' }, once, service))
      const receipt = await service.creating.send(envelope)
      service.names.touch(envelope.job)
      await refuseHidden([receipt], exchange.grant, service)
      if (once !== null) await refuseOtherBody(receipt, once, service)
      return { status: receipt.stored ? 201 : 200, body: { id: receipt.id, created: receipt.stored } }
    },

    createJobs: async ({ body: { jobs }, exchange }) => {
      if (jobs.length > limits.maxBulk) {
        throw invalidRequest([{ pointer: '/jobs', detail: `must have at most ${limits.maxBulk} entries, got ${jobs.length}` }])
      }
      const once = onceOf(exchange)
      const envelopes: Envelope[] = []
      for (const [at, text] of entryTexts(memberTexts(exchange.text).get('jobs') as string).entries()) {
        const given = { text, at, pointer: `/jobs/${at}` }
        envelopes.push(await service.creating.seal(sealable(jobs[at] as NewJob, given, once, service)))
      }
      const receipts = once === null ? await service.creating.sendAll(envelopes) : await sendOnce(envelopes, once, service)
      for (const { job } of envelopes) service.names.touch(job)
      // If any job was stored, report it, even if the key of another one is held by a hidden job.
      if (!receipts.some(({ stored }) => stored)) await refuseHidden(receipts, exchange.grant, service)
      const created = await Promise.all(
        receipts.map(async (receipt, at) => {
          const isHidden = await isHeldByOthers(receipt, exchange.grant, service)
          return { id: isHidden ? (envelopes[at] as Envelope).id : receipt.id, created: receipt.stored }
        }),
      )
      return { status: created.some((each) => each.created) ? 201 : 200, body: { jobs: created } }
    },
  }
}

/** A request with an idempotency key, which counts once however often it is sent. */
interface Once {
  readonly key: string
  readonly body: string
}

const heldFor = '1d'
/** The member of a job's meta that says which request it was created by. */
const onceMember = 'http'

function onceOf({ headers, text }: Exchange): Once | null {
  const key = headers['idempotency-key']
  return key === undefined ? null : { key: digest(key), body: digest(text) }
}

/**
 * The first job represents the request: the others are only sent if it belongs to a request with the same body. Repeating the
 * request creates any jobs that are missing.
 */
async function sendOnce(envelopes: readonly Envelope[], once: Once, service: JobService): Promise<readonly SendReceipt[]> {
  const [first, ...rest] = envelopes as [Envelope, ...Envelope[]]
  const receipt = await service.creating.send(first)
  await refuseOtherBody(receipt, once, service)
  return rest.length === 0 ? [receipt] : [receipt, ...(await service.creating.sendAll(rest))]
}

/** Refuses if the unique key is held by a job outside the limits of the token, without revealing which. */
async function refuseHidden(receipts: readonly SendReceipt[], grant: Grant, service: JobService): Promise<void> {
  for (const receipt of receipts) {
    if (await isHeldByOthers(receipt, grant, service)) throw new HttpProblem('forbidden', 'The key is held by a job of others')
  }
}

async function isHeldByOthers({ id, stored }: SendReceipt, grant: Grant, { queue }: JobService): Promise<boolean> {
  if (stored || !grant.isLimited) return false
  const holder = await queue.backend.store.get(id)
  return holder !== null && !grant.sees(holder)
}

async function refuseOtherBody({ id, stored }: SendReceipt, { body }: Once, { queue }: JobService): Promise<void> {
  if (stored) return
  const holder = await queue.backend.store.get(id)
  const { [onceMember]: http } = (holder?.meta ?? {}) as { readonly [onceMember]?: { readonly body?: unknown } }
  if (holder === null || http?.body === body) return
  throw new HttpProblem('idempotency-key-reused', 'Use another Idempotency-Key for another request')
}

type Sealable = Parameters<JobService['creating']['seal']>[0]

/** The position of a job in its request. */
interface Place {
  /** The job as it was sent. */
  readonly text: string
  readonly at: number
  readonly pointer: string
}

function sealable(given: NewJob, { text, at, pointer }: Place, once: Once | null, { creating, queue }: JobService): Sealable {
  const { job, payload: _, repeat = null, unique, ...rest } = given
  // Also refuse a repeat that leads to a year outside the supported range.
  if (repeat !== null) soundRepeat(repeat).next(queue.settings.clock.now())
  if (once !== null && unique !== undefined) {
    const detail = 'cannot be given together with an Idempotency-Key, which is a unique key of its own'
    throw invalidRequest([{ pointer: `${pointer}/unique`, detail }])
  }
  for (const member of once === null ? [wireMember] : [wireMember, onceMember]) {
    if (!Object.hasOwn(rest.meta ?? {}, member)) continue
    throw invalidRequest([{ pointer: `${pointer}/meta/${member}`, detail: 'is written by the job server alone' }])
  }
  const key = unique === undefined ? {} : { unique }
  const options = { ...rest, ...(once === null ? key : onceOptions(rest.meta, once, at)) } as DispatchOptions
  const payload = memberTexts(text).get('payload') ?? JSON.stringify(creating.definitionOf(job).fields.args)
  return { job, payload, options, repeat }
}

function onceOptions(meta: NewJob['meta'], { key, body }: Once, at: number): DispatchOptions {
  return { unique: { key: `http:${key}:${at}`, until: heldFor, onConflict: 'ignore' }, meta: { ...meta, [onceMember]: { body } } }
}
