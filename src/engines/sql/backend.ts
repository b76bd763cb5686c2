import { answerOf, wait } from '../../core/answer.ts'
import { isUnreachable } from '../../core/errors.ts'
import { randomToken } from '../../core/id.ts'
import type { Logger } from '../../core/logger.ts'
import { type Clock, systemClock } from '../../core/time/clock.ts'
import type { JoinedQueue, Lease, QueueBackend } from '../../queue/contract/contract.ts'
import type { Upkeep } from '../../queue/contract/upkeep.ts'
import { unscopedKey } from '../../queue/model/unique-key.ts'
import type { QueueTime } from '../servers/queue-time.ts'
import { repeating, sendAgain } from '../servers/repeating.ts'
import { handTime, ServerClock } from '../servers/server-clock.ts'
import { Calls } from './calls.ts'
import { LostClaims } from './claiming/lost-claims.ts'
import { readUntil } from './keys/unique-keys.ts'
import { Counts } from './lanes/counts.ts'
import type { Lanes } from './lanes/lanes.ts'
import { sqlQueue } from './queue.ts'
import { writeToken } from './rows/lease-token.ts'
import type { SqlDatabase } from './session.ts'
import type { ClaimedRow, Shortcuts } from './shortcuts.ts'
import type { Stepped } from './stepped.ts'
import { Completing, type CompletingOptions } from './transactions/completing.ts'
import { Joining, type JoiningOptions, markOf } from './transactions/joining.ts'
import type { Waker } from './waking/waker.ts'

export interface SqlBackendOptions {
  readonly kind: string
  readonly database: SqlDatabase
  readonly shortcuts: Shortcuts
  readonly waker: Waker
  readonly upkeep: Upkeep
  readonly clock: Clock
  readonly logger: Logger
  readonly sharing: TransactionSharing
}

/** What an engine supplies for transactions that the queue shares with its callers. */
export type TransactionSharing = Pick<JoiningOptions, 'sessionOn'> & Pick<CompletingOptions, 'isTransient' | 'workOn'>

const largestClaim = 2_000

/** Waiting for an unreachable server does not follow the queue's clock. */
const serversTime = systemClock

/** The queue in any SQL database whose schema is up to date. */
export async function sqlBackend(options: SqlBackendOptions): Promise<QueueBackend> {
  try {
    const server = options.clock.runsByItself ? serverClock(options) : null
    const [mark] = await Promise.all([answerOf(markOf(options.database)), server?.measure()])
    return backendOn(options, mark, server)
  } catch (thrown) {
    await options.database[Symbol.asyncDispose]()
    throw thrown
  }
}

function serverClock({ database, clock, logger }: SqlBackendOptions): ServerClock {
  const ask = async () => {
    const [row] = await database.all<{ now: number }>(`SELECT ${database.dialect.nowMs} AS now`)
    return Number(row?.now)
  }
  return new ServerClock({ clock, logger, ask })
}

/** `server` is null if the clock is set by hand. */
function backendOn(options: SqlBackendOptions, mark: number, server: ServerClock | null): QueueBackend {
  const { kind, database, shortcuts, waker, upkeep } = options
  const time: QueueTime = server ?? handTime(options.clock)
  const counts = new Counts(database, time)
  const rules = sqlQueue({ database, shortcuts, counts, time, wake: () => waker.wake() })
  const { shared, sending, settling, leases, store, coordination, transfer } = rules
  const lostClaims = new LostClaims(database, settling)
  const calls = new Calls(kind, {
    before: () => server?.check(),
    failed: (thrown) => void (isUnreachable(thrown) && server?.lost()),
  })
  const joining = new Joining({ ...options.sharing, database, shared, waker, time, mark })
  const completing = new Completing({ ...options.sharing, database, shared, settling, waker, time })
  const queue: Stepped<Pick<QueueBackend, 'send' | 'lease' | 'settle' | 'begin' | 'extend' | 'reap'>> = {
    ...leases,
    *send(envelopes) {
      if (envelopes.length === 0) return []
      const word = waker.word()
      const receipts = yield* wait(sendAgain(envelopes, async () => answerOf(sending.send(envelopes, time, word)), serversTime))
      waker.wake(word)
      return receipts
    },
    *lease(request) {
      const claim = randomToken()
      yield* lostClaims.giveBack(time)
      const latestEnd = () => time.now() + request.leaseMs
      const { rows, nextAt, cancelled } = yield* lostClaims.around(claim, latestEnd, () => rules.claim(request, claim))
      const given = rows.map((row) => leaseOf(row, shared.lanes, claim, time.toLocal(row.lease_until)))
      return { leases: given, nextAt: nextAt === null ? null : time.toLocal(nextAt), cancelled }
    },
    begin: (tokens) => wait(repeating(async () => answerOf(leases.begin(tokens)), serversTime)),
  }
  let closing: Promise<void> | undefined
  const close = async () => {
    await calls.close()
    await counts.settled()
    await server?.settled()
    await waker[Symbol.asyncDispose]()
    await database[Symbol.asyncDispose]()
  }
  return {
    kind,
    largestClaim,
    ...(server !== null && { now: () => server.now() }),
    ...calls.of(queue),
    store: calls.of(store),
    coordination: calls.of(coordination),
    transfer: calls.of(transfer),
    transactions: {
      complete: (token, work) => calls.run(() => completing.complete(token, work)),
      join: (tx) => calls.run(async () => calls.of<JoinedQueue>(await joining.join(tx))),
    },
    watch: (wake) =>
      waker.watch(() => {
        rules.woken()
        wake()
      }),
    patterns: calls.of(rules.patterns),
    upkeep,
    [Symbol.asyncDispose]: () => {
      closing ??= close()
      return closing
    },
  }
}

function leaseOf(row: ClaimedRow, lanes: Lanes, claim: string, expiresAt: number): Lease {
  const {
    id,
    lane: number,
    grp,
    identity,
    payload,
    signature,
    unique_key,
    unique_until,
    created_at,
    run_at,
    attempts,
    rescues,
    number: called,
  } = row
  const { queue, job, priority, single, grouped } = lanes.get(number)
  const envelope = {
    id,
    number: called,
    job,
    queue,
    priority,
    singleInstance: single === 1,
    identity,
    payload,
    signature,
    createdAt: created_at,
    runAt: run_at,
    uniqueKey: unique_key === null ? null : unscopedKey(unique_key),
    uniqueUntil: readUntil(unique_until),
    group: grouped === 1 ? grp : null,
    links: null,
  } as const
  return { token: writeToken(id, number, claim), envelope, attempt: attempts, rescues, expiresAt, linked: row.linked === 1 }
}
