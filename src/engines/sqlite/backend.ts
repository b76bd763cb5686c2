import { TreadleError } from '../../core/errors.ts'
import { ownTrustProblem, trustProblem } from '../../core/files/file-trust.ts'
import { randomToken } from '../../core/id.ts'
import type { Logger } from '../../core/logger.ts'
import { type Clock, nextTurn, readTime } from '../../core/time/clock.ts'
import type { QueueBackend, SendReceipt, SettleReceipt } from '../../queue/contract/contract.ts'
import { ClaimableMemo } from '../../queue/rules/claiming/claimable.ts'
import type { SqliteDriverName } from './driver-names.ts'
import { ClaimReader } from './fast-path/claimed-rows.ts'
import { flatten } from './fast-path/flat-envelopes.ts'
import { flattenJobs } from './fast-path/flat-rules.ts'
import { flattenSettlements } from './fast-path/flat-settlements.ts'
import { chooseDriver } from './file/driver-choice.ts'
import { traceOfLost } from './file/emptied.ts'
import { Access } from './thread/access.ts'
import type { Engine } from './thread/engine.ts'
import { callers, mannerOf, type RuledParts } from './thread/rule-calls.ts'
import { Joining } from './transactions/joining.ts'
import { openSqliteUpkeep } from './upkeep.ts'
import { LogSync } from './waking/log-sync.ts'
import { WakeFile } from './waking/wake-file.ts'

/** Options of `openSqlite`. */
export interface SqliteOptions {
  readonly path: string
  readonly clock: Clock
  readonly logger: Logger
  /** False refuses a file with an older schema instead of migrating it. */
  readonly migrate?: boolean
  /** False turns the fast paths off, so that the rules handle every call: for tests that compare the two. */
  readonly fastPaths?: boolean
  /** Default: `better-sqlite3` if the program has loaded it, else `node:sqlite`, or what replaces it on older Nodes. */
  readonly driver?: SqliteDriverName | undefined
}

/** Opens the file, creating it if it does not exist, and checks its schema. */
export async function openSqlite(options: SqliteOptions): Promise<QueueBackend> {
  const { path, clock, logger, migrate = true, fastPaths = true } = options
  refuseForeignDatabase(path, logger)
  const trace = traceOfLost(path)
  if (trace !== undefined)
    logger.warn(`${path} begins as a new, empty queue: ${trace}. If it was lost, restore it from a backup.`)
  const driver = await chooseDriver(options.driver)
  const access = await Access.open({ path, driver, clock, logger, migrate, fastPaths })
  const wakeFile = new WakeFile(`${path}.wake`)
  const joining = new Joining({
    path,
    driver,
    clock,
    fastPaths,
    wake: () => wakeFile.touch(),
    checkFile: () => access.checkFile(),
  })
  return { ...sqliteBackend(access, wakeFile, joining, clock), upkeep: await openSqliteUpkeep(path, options.driver) }
}

/** Maximum number of envelopes to send in the program's own thread; more would block the event loop for too long. */
const inlineEnvelopes = 128
/** Maximum number of leases to claim in the program's own thread. */
const inlineLeases = 16

function sqliteBackend(access: Access, wakeFile: WakeFile, joining: Joining, clock: Clock): QueueBackend {
  let foundNothing = false
  const claimable = new ClaimableMemo(flattenJobs)
  const logSync = new LogSync(access.file, () => access.callInline('emptyLog', []))
  const reader = new ClaimReader((stamps) => access.callInline('stampTexts', [stamps]))
  return {
    kind: 'sqlite',
    ...ruled(access, wakeFile, clock),
    transactions: {
      async complete(token, work) {
        const { receipt, wakes } = await access.callHere((engine) => engine.complete(token, work, readTime(clock)))
        if (wakes) wakeFile.touch()
        return receipt
      },
      join(tx) {
        access.refuseClosed()
        return joining.join(tx)
      },
    },
    async send(envelopes) {
      const args: Parameters<Engine['send']> = [flatten(envelopes), readTime(clock)]
      const isSmall = envelopes.length <= inlineEnvelopes
      // An idle worker in this process can start before the disk has finished writing. Only the sender waits for the disk.
      const isAwaited = isSmall && foundNothing && wakeFile.isHeard
      const taken = await (isSmall ? access.callInline(isAwaited ? 'sendUnsynced' : 'send', args) : access.call('send', args))
      wakeFile.wakeHere()
      // Let that worker claim its job before other processes are woken.
      if (isAwaited) await nextTurn()
      wakeFile.wakeOthers()
      // A duplicate must wait for the disk too: the job it refers to may have been sent a moment ago and not be on disk yet.
      if (isAwaited || taken.length > 0) await logSync.sync()
      const receipts: SendReceipt[] = envelopes.map(({ id }) => ({ id, stored: true }))
      for (const [index, receipt] of taken) receipts[index] = receipt
      return receipts
    },
    async lease(request) {
      const args: Parameters<Engine['lease']> = [{ ...request, jobs: claimable.of(request.jobs) }, randomToken(), readTime(clock)]
      // What wakes an idle worker is usually a single job, and someone is likely waiting for it.
      const small = foundNothing && request.limit <= inlineLeases
      const claimed = await (small ? access.callInline('lease', args) : access.call('lease', args))
      const batch = await reader.read(claimed)
      foundNothing = batch.leases.length === 0
      return batch
    },
    async settle(settlements) {
      const receipts = new Array<SettleReceipt>(settlements.length).fill('applied')
      const { others, released } = await access.call('settle', [flattenSettlements(settlements), readTime(clock)])
      for (const [index, receipt] of others) receipts[index] = receipt
      if (released) wakeFile.touch()
      return receipts
    },
    standIn: (request) => access.standIn(request),
    watch: (wake) => wakeFile.listen(wake),
    async [Symbol.asyncDispose]() {
      wakeFile.close()
      await logSync.close()
      await access.close()
    },
  }
}

/** The calls that only the rules answer. */
function ruled(access: Access, wakeFile: WakeFile, clock: Clock): RuledParts {
  return callers(access.parts, async (name, args) => {
    const call: Parameters<Engine['rule']> = [name, args, readTime(clock)]
    const { answer, wakes } = await (mannerOf(name, args).isSmall ? access.callInline('rule', call) : access.call('rule', call))
    if (wakes) wakeFile.touch()
    return answer
  })
}

/** Suffixes of the database and of the files that SQLite and workers keep beside it. */
const files = ['', '-wal', '-shm', '.wake']

/**
 * Refuses a database that belongs to another user or that others can write to: they could change and delete any job and, without
 * signing, run anything. If others could only replace the file, this logs a warning: folders shared by a group are common, and
 * signed jobs are verified no matter who wrote them.
 */
function refuseForeignDatabase(path: string, logger: Logger): void {
  if (path === ':memory:') return
  for (const file of files) {
    const problem = ownTrustProblem(`${path}${file}`, 'who could change and delete jobs')
    if (problem !== undefined) throw new TreadleError('FILE_UNTRUSTED', `The database ${path} is not used: ${problem}`)
  }
  const problem = trustProblem(path, 'who could put another database in the place of yours')
  if (problem !== undefined) logger.warn(`The database ${path}: ${problem}`)
}
