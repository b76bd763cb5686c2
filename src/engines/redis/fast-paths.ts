import { randomToken } from '../../core/id.ts'
import type { Envelope } from '../../envelope/envelope.ts'
import type { Lease, LeaseBatch, LeaseRequest, SendReceipt, Settlement, SettleReceipt } from '../../queue/contract/contract.ts'
import type { QueueTime } from '../servers/queue-time.ts'
import { mostLanes, outlookOf } from './claiming/outlook.ts'
import { wantedLanes } from './claiming/wanted-lanes.ts'
import { script, scriptEvenWhenFull } from './connections/script.ts'
import type { RedisServer } from './connections/server.ts'
import { claimScript } from './scripts/claim.ts'
import { sendScript } from './scripts/send.ts'
import { settleScript } from './scripts/settle.ts'
import { countIn, flag, laneOf, type Rest, readRest, restText, tokenOf } from './units/head.ts'
import { bodyIn, bodyText } from './units/stored-text.ts'

const [sending, claiming, settling] = [script(sendScript), scriptEvenWhenFull(claimScript), scriptEvenWhenFull(settleScript)]

/** Maximum number of jobs stored by one script, which blocks all other calls while it runs. */
const mostSent = 20_000

type Done = Settlement & { readonly kind: 'done' }
type Texts = readonly string[]
type ClaimAnswer = readonly ['done', Texts, Texts, Texts, string, string, string, string, string, Texts]
type Arguments = (string | number)[]

interface ClaimedRow {
  readonly id: string
  readonly body: string
  readonly rest: Rest
  readonly createdAt: number
  /** Attempt, rescues, time and whether it is part of a workflow. */
  readonly facts: string
}

/** For most jobs, which have no dependencies. Each call is one script for the whole batch and returns what the rules would. */
export class FastPaths {
  readonly #server: RedisServer
  readonly #time: QueueTime
  readonly #onWake: () => void

  constructor(server: RedisServer, time: QueueTime, onWake: () => void) {
    this.#server = server
    this.#time = time
    this.#onWake = onWake
  }

  /** Null if the rules have to handle it. */
  async send(envelopes: readonly Envelope[]): Promise<readonly SendReceipt[] | null> {
    if (envelopes.length > mostSent || !envelopes.every(isPlain)) return null
    const now = this.#time.now()
    const sent = this.#server.run(sending, runsOf(envelopes, now))
    // A claim that is sent now is executed right after this, and both are synced together. If it comes too early nevertheless,
    // the message that the script publishes wakes the worker again.
    this.#onWake()
    const refused = (await sent) as (string | number)[]
    const receipts: SendReceipt[] = envelopes.map(({ id }) => ({ id, stored: true }))
    for (let at = 0; at < refused.length; at += 2) {
      receipts[refused[at] as number] = { id: refused[at + 1] as string, stored: false }
    }
    return receipts
  }

  /** Null if the rules have to handle it. */
  async claim(request: LeaseRequest, claim: string): Promise<LeaseBatch | null> {
    if (!isUnlimited(request)) return null
    const { owner, queues, priority, jobs, others, limit, leaseMs, amongOthers = false } = request
    const marks = amongOthers ? flag.amongOthers : 0
    const lanes = others == null ? null : await this.#lanesOf(request)
    const asked = [lanes === null ? 'names' : 'lanes', ...(queues ?? []), ...(lanes ?? jobs.map(({ job }) => job))]
    const wanted = [priority ?? '', mostLanes, queues?.length ?? -1, ...asked]
    const now = this.#time.now()
    const until = now + leaseMs
    const args = [now, newStamp(), limit, until, claim, owner, JSON.stringify(owner), marks, ...wanted]
    const answer = (await this.#server.run(claiming, args)) as ClaimAnswer | readonly [string]
    if (answer[0] !== 'done') return null
    const [, ids, bodies, rests, facts, expiresAt, dueAt, givesUpAt, releasedAt, cancelled] = answer as ClaimAnswer
    const known = [expiresAt, dueAt, givesUpAt, releasedAt]
      .filter((text) => text !== '')
      .map(Number)
      .filter(Number.isFinite)
    const terms = { claim, expiresAt: this.#time.toLocal(until) }
    const claimed = facts.split(',')
    const read = restReader()
    const leases = ids.map((id, at) => {
      const { rest, createdAt } = read(rests[at] as string)
      return leaseOf({ id, body: bodies[at] as string, rest, createdAt, facts: claimed[at] as string }, terms)
    })
    return { leases, nextAt: known.length === 0 ? null : this.#time.toLocal(Math.min(...known)), cancelled }
  }

  /** The lanes that a request with patterns would claim from. */
  async #lanesOf(request: LeaseRequest): Promise<readonly string[]> {
    const outlook = await outlookOf(this.#server, this.#time.now(), request.owner)
    const { lanes } = await wantedLanes(this.#server, request, outlook, 1)
    return lanes.map(({ lane }) => lane)
  }

  /** Null for each settlement that the rules have to handle. */
  async settle(settlements: readonly Settlement[]): Promise<readonly (SettleReceipt | null)[]> {
    const receipts: (SettleReceipt | null)[] = new Array(settlements.length).fill(null)
    const tokens = new Set(settlements.map(({ token }) => token))
    // If a lease is settled more than once, the first settlement counts, whichever path would handle it.
    if (tokens.size < settlements.length) return receipts
    const plain = settlements.flatMap((settlement, index) => (isPlainEnd(settlement) ? [{ settlement, index }] : []))
    if (plain.length === 0) return receipts
    const answers = (await this.#server.run(settling, endsOf(plain, this.#time.now()))) as string
    for (const [place, { index }] of plain.entries()) {
      if (answers[place] !== 'r') receipts[index] = answers[place] === 'a' ? 'applied' : 'lost'
    }
    return receipts
  }
}

function newStamp(): string {
  return randomToken().slice(0, 8)
}

function isPlain({ links, uniqueKey }: Envelope): boolean {
  return links === null && uniqueKey === null
}

/** The arguments that store these. Jobs of the same place that follow each other share what says where that is. */
function runsOf(envelopes: readonly Envelope[], now: number): Arguments {
  const stamp = newStamp()
  const args: Arguments = [now, stamp]
  let [lane, first, length]: [string, Envelope | null, number] = ['', null, 0]
  for (const envelope of envelopes) {
    const { id, group, runAt, number, job } = envelope
    const state = runAt > now ? 1 : 0
    const isNext = first !== null && isSamePlace(first, envelope) && first.runAt > now === runAt > now
    if (!isNext) {
      lane = laneOf(envelope)
      first = envelope
      args.push(lane, group ?? '', envelope.queue, state, 0)
      length = args.length - 1
    }
    const rest = restText(envelope, { keyIndex: null, sentAs: job, schedule: null, at: null })
    args.push(id, runAt, number ?? '', `${stamp}|${state}|${runAt}|0|0|||0|0||\n${rest}`, bodyText(envelope))
    args[length] = (args[length] as number) + 1
  }
  return args
}

function isSamePlace(one: Envelope, other: Envelope): boolean {
  const { job, queue, priority, group, singleInstance } = one
  const isSame = job === other.job && queue === other.queue && priority === other.priority
  return isSame && group === other.group && singleInstance === other.singleInstance
}

/** The arguments that end these. */
function endsOf(ends: readonly { readonly settlement: Done }[], now: number): Arguments {
  const args: Arguments = [now, newStamp()]
  let [claim, isKept, length] = ['', false, 0]
  for (const { settlement } of ends) {
    const { token, result, seal = null, keep } = settlement
    const dot = token.indexOf('.')
    if (length === 0 || keep !== isKept || dot !== claim.length || !token.startsWith(claim)) {
      claim = token.slice(0, dot)
      isKept = keep
      args.push(claim, keep ? '1' : '', 0)
      length = args.length - 1
    }
    const extra = result === null && seal === null ? '' : JSON.stringify([result, seal, null, null, []])
    args.push(token.slice(dot + 1), extra)
    args[length] = (args[length] as number) + 1
  }
  return args
}

function isUnlimited({ jobs, queueLimits = [], ageingMs, limit }: LeaseRequest): boolean {
  if (limit < 0 || queueLimits.length > 0 || (ageingMs ?? 0) !== 0) return false
  return jobs.every(({ concurrency, rate, group }) => concurrency === null && rate == null && group == null)
}

/** Most jobs of a claim differ in nothing but the time at the end of what rarely changes, which is read for each. */
function restReader(): (text: string) => { readonly rest: Rest; readonly createdAt: number } {
  let known: { readonly start: string; readonly rest: Rest } | null = null
  return (text) => {
    const end = text.lastIndexOf(',') + 1
    const createdAt = Number(text.slice(end, -1))
    if (known !== null && end === known.start.length && createdAt > 0 && text.startsWith(known.start)) {
      return { rest: known.rest, createdAt }
    }
    const rest = readRest(text)
    known = rest.createdAt === createdAt && rest.at === null ? { start: text.slice(0, end), rest } : null
    return { rest, createdAt: rest.createdAt }
  }
}

// Field by field: copied with spreads, a lease takes thirty times as long and four times the memory.
function leaseOf(
  { id, body, rest, createdAt, facts }: ClaimedRow,
  { claim, expiresAt }: { claim: string; expiresAt: number },
): Lease {
  const [identity, payload, signature] = bodyIn(body)
  const [attempt, rescues, runAt, linked] = facts.split('|') as [string, string, string, string]
  const { job, queue, priority, singleInstance, group, number, uniqueKey, uniqueUntil } = rest
  return {
    token: tokenOf(claim, id),
    envelope: {
      id,
      number,
      job,
      queue,
      priority,
      singleInstance,
      createdAt,
      runAt: Number(runAt),
      group,
      uniqueKey,
      uniqueUntil,
      identity,
      payload,
      signature,
      links: null,
    },
    attempt: Number(attempt),
    rescues: Math.max(0, countIn(rescues)),
    expiresAt,
    linked: linked === '1',
  }
}

/** Whether it involves nothing but the job itself. */
function isPlainEnd(settlement: Settlement): settlement is Done {
  return settlement.kind === 'done' && settlement.once === undefined
}
