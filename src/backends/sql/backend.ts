import { type Clock, systemClock } from '../../core/clock.ts'
import { randomToken } from '../../core/id.ts'
import type { Logger } from '../../core/logger.ts'
import type { Lease, QueueBackend, Transactions } from '../contract.ts'
import type { Upkeep } from '../upkeep.ts'
import { Calls } from './calls.ts'
import { Claiming } from './claiming.ts'
import { Completing, type CompletingOptions } from './completing.ts'
import { sqlCoordination } from './coordination.ts'
import { Counts } from './counts.ts'
import { Endings } from './endings.ts'
import { Groups } from './groups.ts'
import { Impatience } from './impatience.ts'
import { unscopedKey } from './job-row.ts'
import { Joining, type JoiningOptions, markOf } from './joining.ts'
import { Lanes } from './lanes.ts'
import { LostClaims } from './lost-claims.ts'
import { Mending } from './mending.ts'
import { Numbers } from './numbers.ts'
import { OnceMarks } from './once-marks.ts'
import { Outcomes } from './outcomes.ts'
import { Promoting } from './promoting.ts'
import { queueParts } from './queue-parts.ts'
import type { QueueTime } from './queue-time.ts'
import { Rates } from './rates.ts'
import { isUnreachable, repeating, sendAgain } from './repeating.ts'
import { Rescuing } from './rescuing.ts'
import { handTime, ServerClock } from './server-clock.ts'
import type { SqlDatabase } from './session.ts'
import { touchLeases } from './settling.ts'
import type { ClaimedRow, Shortcuts } from './shortcuts.ts'
import { sqlStore } from './store.ts'
import { writeToken } from './token.ts'
import { Trees } from './trees.ts'
import { readUntil, UniqueKeys } from './unique-keys.ts'
import type { Waker } from './waker.ts'

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

/** What an engine has to say of transactions that the queue shares with its callers. */
export type TransactionSharing = Pick<JoiningOptions, 'sessionOn'> & Pick<CompletingOptions, 'isTransient' | 'workOn'>

const largestClaim = 2_000

/** The server's absence is not a matter of the queue's clock. */
const serversTime = systemClock

/** The queue in a SQL database, whichever it is, with its schema as it should be. */
export async function sqlBackend(options: SqlBackendOptions): Promise<QueueBackend> {
  try {
    const server = options.clock.runsByItself ? serverClock(options) : null
    const [mark] = await Promise.all([markOf(options.database), server?.measure()])
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

/** `server` is null where the clock is moved by hand. */
function backendOn(options: SqlBackendOptions, mark: number, server: ServerClock | null): QueueBackend {
  const { kind, database, shortcuts, waker, upkeep } = options
  const time: QueueTime = server ?? handTime(options.clock)
  const lanes = new Lanes(database)
  const counts = new Counts(database)
  const groups = new Groups()
  const rates = new Rates()
  const uniqueKeys = new UniqueKeys()
  const onceMarks = new OnceMarks()
  const outcomes = new Outcomes()
  const endings = new Endings(onceMarks)
  const numbers = new Numbers()
  const shared = { lanes, counts, uniqueKeys, numbers, onceMarks, outcomes, endings, shortcuts }
  const { transactions, sending, linking, settling } = queueParts(database, groups, shared)
  const promoting = new Promoting({ database, lanes, counts, groups })
  const rescuing = new Rescuing(database, transactions)
  const impatience = new Impatience(database, transactions, endings)
  const giveUp = (at: QueueTime) => impatience.giveUp(at)
  const claiming = new Claiming({ database, shortcuts, lanes, counts, groups, rates, promoting, rescuing, giveUp })
  const lostClaims = new LostClaims(database, settling)
  const trees = new Trees(database, transactions)
  const mending = new Mending(database, transactions, endings)
  const ground = { database, transactions, lanes, counts, rates, uniqueKeys, sending, time }
  const store = sqlStore({ ...ground, trees, mending, wake: () => waker.wake() })
  const coordination = sqlCoordination(ground)
  const calls = new Calls(kind, {
    before: () => server?.check(),
    failed: (thrown) => void (isUnreachable(thrown) && server?.lost()),
  })
  const joining = new Joining({ ...options.sharing, database, shared, waker, time, mark })
  const completing = new Completing({ ...options.sharing, database, shared, settling, waker, time })
  const queue: Pick<QueueBackend, 'send' | 'lease' | 'settle' | 'begin' | 'extend' | 'reap'> = {
    async send(envelopes) {
      if (envelopes.length === 0) return []
      const word = waker.word()
      const receipts = await sendAgain(envelopes, () => linking.send(envelopes, time, word), serversTime)
      waker.wake(word)
      return receipts
    },
    async lease(request) {
      const claim = randomToken()
      await lostClaims.giveBack(time)
      const latestEnd = () => time.now() + request.leaseMs
      const { rows, nextAt, cancelled } = await lostClaims.around(claim, latestEnd, () => claiming.lease(request, claim, time))
      const leases = rows.map((row) => leaseOf(row, lanes, claim, time.toLocal(row.lease_until)))
      return { leases, nextAt: nextAt === null ? null : time.toLocal(nextAt), cancelled }
    },
    async settle(settlements) {
      const { receipts, released } = await settling.settle(settlements, time)
      if (released) waker.wake()
      return receipts
    },
    begin: (tokens) =>
      repeating(() => database.transaction((session) => touchLeases(session, tokens, () => ({ begun: 1 }))), serversTime),
    extend: (tokens, leaseMs, alone) =>
      database.transaction((session) => touchLeases(session, tokens, () => ({ lease_until: time.now() + leaseMs }), alone)),
    async reap(maxRescues, deadOwners = []) {
      const report = await rescuing.reap(maxRescues, deadOwners, time)
      if (report.returned > 0) waker.wake()
      return report
    },
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
    transactions: calls.of({
      complete: (token, work) => completing.complete(token, work),
      join: async (tx) => calls.of(await joining.join(tx)),
    } satisfies Transactions),
    watch: (wake) =>
      waker.watch(() => {
        claiming.woken()
        wake()
      }),
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
