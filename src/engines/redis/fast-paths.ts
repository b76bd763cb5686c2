import { randomToken } from '../../core/id.ts'
import type { Envelope } from '../../envelope/envelope.ts'
import type { Lease, LeaseBatch, LeaseRequest, SendReceipt, Settlement, SettleReceipt } from '../../queue/contract/contract.ts'
import type { QueueTime } from '../servers/queue-time.ts'
import { mostLanes, outlookOf } from './claiming/outlook.ts'
import { wantedLanes } from './claiming/wanted-lanes.ts'
import { script } from './connections/script.ts'
import type { RedisServer } from './connections/server.ts'
import { claimScript } from './scripts/claim.ts'
import { sendScript } from './scripts/send.ts'
import { settleScript } from './scripts/settle.ts'
import { claimOf, countIn, flag, idOf, laneOf, readRest, restText, tokenOf } from './units/head.ts'
import { bodyIn } from './units/stored-text.ts'

const [sending, claiming, settling] = [script(sendScript), script(claimScript), script(settleScript)]

/** Maximum number of jobs stored by one script, which blocks all other calls while it runs. */
const mostSent = 20_000

type Done = Settlement & { readonly kind: 'done' }
type ClaimedRow = readonly [string, string, number, string, string, string, number]
type ClaimAnswer = readonly ['done', readonly ClaimedRow[], string, string, string, string, readonly string[]]

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
    const rows = envelopes.flatMap((envelope) => rowOf(envelope))
    const answers = (await this.#server.run(sending, [this.#time.now(), newStamp(), ...rows])) as string[]
    if (answers.includes('')) this.#onWake()
    return envelopes.map(({ id }, index) => {
      const holder = answers[index] as string
      return holder === '' ? { id, stored: true } : { id: holder, stored: false }
    })
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
    const [, rows, expiresAt, dueAt, givesUpAt, releasedAt, cancelled] = answer as ClaimAnswer
    const known = [expiresAt, dueAt, givesUpAt, releasedAt]
      .filter((text) => text !== '')
      .map(Number)
      .filter(Number.isFinite)
    const leases = rows.map((row) => leaseOf(row, claim, this.#time.toLocal(until)))
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
    const rows = plain.flatMap(({ settlement: { token, result, seal = null, keep } }) => {
      const extra = result === null && seal === null ? '' : JSON.stringify([result, seal, null, null, []])
      return [idOf(token), claimOf(token), extra, keep ? '1' : '']
    })
    const answers = (await this.#server.run(settling, [this.#time.now(), newStamp(), ...rows])) as string
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

function rowOf(envelope: Envelope): readonly (string | number)[] {
  const { id, group, runAt, number, identity, payload, signature, queue, job } = envelope
  const body = JSON.stringify([identity, payload, signature])
  const rest = restText(envelope, { keyIndex: null, sentAs: job, schedule: null, at: null })
  return [id, laneOf(envelope), group ?? '', runAt, number ?? '', rest, body, queue]
}

function isUnlimited({ jobs, queueLimits = [], ageingMs, limit }: LeaseRequest): boolean {
  if (limit <= 0 || queueLimits.length > 0 || (ageingMs ?? 0) !== 0) return false
  return jobs.every(({ concurrency, rate, group }) => concurrency === null && rate == null && group == null)
}

function leaseOf([id, body, attempt, rescues, runAt, rest, linked]: ClaimedRow, claim: string, expiresAt: number): Lease {
  const [identity, payload, signature] = bodyIn(body)
  const { job, queue, priority, singleInstance, group, number, createdAt, uniqueKey, uniqueUntil } = readRest(rest)
  const routing = { id, number, job, queue, priority, singleInstance, createdAt, runAt: Number(runAt), group }
  const envelope: Envelope = { ...routing, uniqueKey, uniqueUntil, identity, payload, signature, links: null }
  return { token: tokenOf(claim, id), envelope, attempt, rescues: Math.max(0, countIn(rescues)), expiresAt, linked: linked === 1 }
}

/** Whether it involves nothing but the job itself. */
function isPlainEnd(settlement: Settlement): settlement is Done {
  return settlement.kind === 'done' && settlement.once === undefined
}
