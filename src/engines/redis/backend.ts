import { isUnreachable } from '../../core/errors.ts'
import { randomToken } from '../../core/id.ts'
import { systemClock } from '../../core/time/clock.ts'
import type { Envelope } from '../../envelope/envelope.ts'
import { BackendCalls } from '../../queue/backend/calls.ts'
import type {
  LeaseBatch,
  LeaseRequest,
  PatternClaims,
  QueueBackend,
  ReapReport,
  SendReceipt,
  Settlement,
  SettleReceipt,
  Watch,
} from '../../queue/contract/contract.ts'
import type { Upkeep } from '../../queue/contract/upkeep.ts'
import { keyIndexOf } from '../../queue/rules/jobs/job.ts'
import type { QueueTime } from '../servers/queue-time.ts'
import { sendAgain } from '../servers/repeating.ts'
import { handTime, ServerClock } from '../servers/server-clock.ts'
import { Claiming } from './claiming/claiming.ts'
import type { RedisClient } from './connections/client.ts'
import { whenReady } from './connections/connection.ts'
import type { RedisServer } from './connections/server.ts'
import { RedisCoordination } from './coordination.ts'
import { diagnoseRedis } from './diagnosing.ts'
import { FastPaths } from './fast-paths.ts'
import type { RedisConfig } from './options.ts'
import type { QueueMark } from './queue-mark.ts'
import { readServerTime } from './server-time.ts'
import { SpoiltKeys } from './spoilt-keys/spoilt-keys.ts'
import { RedisStore } from './store/store.ts'
import { RedisTransfer } from './transfer/transfer.ts'
import { UnconfirmedCalls } from './unconfirmed-calls.ts'
import { idOf } from './units/head.ts'
import { field, type Need, range } from './units/needs.ts'
import { Units } from './units/units.ts'
import { RedisWaker } from './waking.ts'

/** Maximum number of jobs per claim; high, because a call is a network round trip. */
const largestClaim = 1_000

export interface RedisBackendParts {
  readonly config: RedisConfig
  readonly client: RedisClient
  readonly server: RedisServer
  /** Where the server is, without passwords. */
  readonly place: string
  readonly mark: QueueMark
  /** Where scripts publish that there is work. */
  readonly channel: string
  readonly upkeep: Upkeep
}

/** Implements the whole contract except transactions, on a Redis or Valkey server. */
export class RedisBackend implements QueueBackend {
  readonly kind = 'redis'
  readonly largestClaim = largestClaim
  readonly store: RedisStore
  readonly coordination: RedisCoordination
  readonly transfer: RedisTransfer
  readonly patterns: PatternClaims
  readonly upkeep: Upkeep
  readonly #parts: RedisBackendParts
  readonly #time: QueueTime
  readonly #serverClock: ServerClock | null
  readonly #units: Units
  readonly #claiming: Claiming
  readonly #waker: RedisWaker
  readonly #fast: FastPaths | null
  readonly #unconfirmed: UnconfirmedCalls
  readonly #calls = new BackendCalls('redis')
  #closing: Promise<void> | undefined

  constructor(parts: RedisBackendParts) {
    const { server, config, client, channel } = parts
    const { clock, logger } = config
    this.#parts = parts
    this.upkeep = parts.upkeep
    const ask = async () => {
      const { now, mark, spoilt } = await readServerTime(server)
      await parts.mark.heard(mark, spoilt.includes('meta'))
      spoiltKeys.heard(spoilt)
      return now
    }
    this.#serverClock = clock.runsByItself ? new ServerClock({ clock, logger, ask }) : null
    this.#time = this.#serverClock ?? handTime(clock)
    this.#waker = new RedisWaker(client, channel)
    this.#units = new Units(server, this.#time, () => this.#waker.wake())
    const spoiltKeys = new SpoiltKeys({ server, units: this.#units, logger, place: parts.place })
    this.#fast = config.fastPaths ? new FastPaths(server, this.#time, () => this.#waker.wake()) : null
    this.#unconfirmed = new UnconfirmedCalls(server, (settlements) => this.#settle(settlements))
    this.#claiming = new Claiming({ server, units: this.#units, time: this.#time })
    const wake = async () => {
      this.#waker.wake()
      await server.command('PUBLISH', channel, '')
    }
    const shared = { server, units: this.#units, time: this.#time, wake, ready: () => this.#ready() }
    this.store = new RedisStore(shared)
    this.coordination = new RedisCoordination(shared)
    this.transfer = new RedisTransfer(shared)
    this.patterns = { readyOf: (jobs) => this.store.readyOf(jobs) }
  }

  readonly now = () => this.#time.now()

  send(envelopes: readonly Envelope[]): Promise<readonly SendReceipt[]> {
    return this.#call(async () => {
      const due = envelopes.map((envelope) => this.#due(envelope))
      return sendAgain(envelopes, () => this.#send(due), systemClock)
    })
  }

  lease(request: LeaseRequest): Promise<LeaseBatch> {
    return this.#call(async () => {
      await this.#unconfirmed.giveBackClaims()
      const claim = randomToken()
      return this.#unconfirmed.watchClaim(request.owner, claim, async () => {
        return (await this.#fast?.claim(request, claim)) ?? this.#claiming.lease(request, claim)
      })
    })
  }

  settle(settlements: readonly Settlement[]): Promise<readonly SettleReceipt[]> {
    return this.#call(() => this.#unconfirmed.watchSettlements(settlements, () => this.#settle(settlements)))
  }

  begin(tokens: readonly string[]): Promise<readonly SettleReceipt[]> {
    const ids = tokens.map(idOf)
    return this.#call(() =>
      this.#units.run((queue) => {
        queue.want(ids)
        return { answer: tokens.map((token) => queue.rules.leases.begin(token)) }
      }),
    )
  }

  extend(tokens: readonly string[], leaseMs: number, alone = false): Promise<readonly SettleReceipt[]> {
    const ids = tokens.map(idOf)
    return this.#call(() =>
      this.#units.run((queue) => {
        queue.want(ids)
        const until = queue.now + leaseMs
        return { answer: tokens.map((token) => queue.rules.leases.extend(token, until, alone)) }
      }),
    )
  }

  reap(maxRescues: number, deadOwners: readonly string[] = []): Promise<ReapReport> {
    return this.#call(() => this.#claiming.reap(maxRescues, deadOwners))
  }

  watch(wake: () => void): Watch {
    this.#calls.refuseClosed()
    return this.#waker.watch(wake)
  }

  /** Earlier calls are still answered. */
  [Symbol.asyncDispose](): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #send(envelopes: readonly Envelope[]): Promise<readonly SendReceipt[]> {
    await this.#connected()
    const receipts = await this.#fast?.send(envelopes)
    if (receipts != null) return receipts
    return this.#units.run((queue) => {
      queue.rows.want(envelopes.flatMap(sendNeeds))
      const sent = queue.rules.linking.send(envelopes)
      if (sent.some(({ stored }) => stored)) queue.wakes = true
      return { answer: sent }
    })
  }

  async #settle(settlements: readonly Settlement[]): Promise<readonly SettleReceipt[]> {
    const receipts = (await this.#fast?.settle(settlements)) ?? settlements.map(() => null)
    const rest = settlements.filter((_, index) => receipts[index] === null)
    if (rest.length === 0) return receipts as readonly SettleReceipt[]
    const ids = rest.map(({ token }) => idOf(token))
    const ending = rest.filter(({ kind }) => !isGivenBack(kind)).map(({ token }) => idOf(token))
    const ruled = await this.#units.run((queue) => {
      queue.wantEnding(ids, ending)
      const settled = rest.map((settlement) => queue.rules.leases.settle(settlement, queue.now))
      if (settled.some(({ mayWake }) => mayWake)) queue.wakes = true
      return { answer: settled.map(({ receipt }) => receipt) }
    })
    let next = 0
    return receipts.map((receipt) => receipt ?? (ruled[next++] as SettleReceipt))
  }

  #due(envelope: Envelope): Envelope {
    const runAt = this.#time.dueAt(envelope.runAt)
    return runAt === envelope.runAt ? envelope : { ...envelope, runAt }
  }

  async #close(): Promise<void> {
    this.#waker.close()
    await this.#calls.close()
    await this.#serverClock?.settled()
    this.#parts.server.close()
    if (this.#parts.config.client === null) this.#parts.client.disconnect()
  }

  async #ready(): Promise<void> {
    this.#calls.refuseClosed()
    await this.#connected()
  }

  async #connected(): Promise<void> {
    const { client, config, place } = this.#parts
    await whenReady(client, config.timeoutMs, place)
    await this.#serverClock?.check()
  }

  async #call<Answer>(act: () => Promise<Answer>): Promise<Answer> {
    try {
      return await this.#calls.run(() => this.#ready().then(act))
    } catch (thrown) {
      // The next connection may lead to another server, with another clock or without the queue.
      if (isUnreachable(thrown)) this.#serverClock?.lost()
      throw thrown
    }
  }
}

/** Whether a job that is settled so usually goes on. */
function isGivenBack(kind: Settlement['kind']): boolean {
  return kind === 'retry' || kind === 'snooze' || kind === 'wait' || kind === 'again'
}

/** What is checked before an envelope is stored: whether its id, number or unique key exists, and the jobs it depends on. */
function sendNeeds(envelope: Envelope): readonly Need[] {
  const { id, number, links } = envelope
  const index = keyIndexOf(envelope)
  const needs: Need[] = [field('h', id)]
  if (number !== null) needs.push(field('num', String(number)))
  if (index !== null) needs.push(field('u', index), field('ul', index))
  for (const other of [...(links?.waitsFor ?? []), ...(links?.parent ? [links.parent] : [])]) {
    needs.push(field('h', other.id), field('p', other.id), field('x', other.id), field('ok', other.id))
  }
  if (links !== null) needs.push(...links.waitsFor.map((wait) => range(`et:${wait.id}`)))
  return needs
}

export function upkeepOf(server: RedisServer, config: RedisConfig): Upkeep {
  return {
    kind: 'redis',
    schema: {
      latest: 1,
      state: async () => ({ version: 1, compatibleFrom: 1 }),
      plan: async () => '',
      migrate: async () => ({ version: 1, compatibleFrom: 1 }),
    },
    diagnose: () => diagnoseRedis(server, config.clock),
  }
}
