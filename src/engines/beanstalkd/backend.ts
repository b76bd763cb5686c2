import { messageOf, TreadleError } from '../../core/errors.ts'
import type { Envelope } from '../../envelope/envelope.ts'
import { BackendCalls } from '../../queue/backend/calls.ts'
import { Watchers } from '../../queue/backend/watchers.ts'
import type { Backlog } from '../../queue/contract/backlog.ts'
import type {
  LeaseBatch,
  LeaseRequest,
  QueueBackend,
  ReapReport,
  SendReceipt,
  Settlement,
  SettleReceipt,
  Watch,
} from '../../queue/contract/contract.ts'
import { UnhandledJobs } from '../broker/unhandled-jobs.ts'
import { Claiming } from './claiming.ts'
import { statistic, statistics } from './connection/commands.ts'
import { Link } from './connection/link.ts'
import { Session } from './connection/session.ts'
import { Copies } from './copies.ts'
import { EndedJobs } from './ended-jobs.ts'
import { HeldJobs } from './held-jobs.ts'
import { IdleWaiter } from './idle-waiter.ts'
import type { BeanstalkdConfig } from './options.ts'
import { Sending } from './sending.ts'
import { Settling } from './settling.ts'
import { TubeCounts } from './tubes/tube-counts.ts'
import { TubeDirectory } from './tubes/tube-directory.ts'
import { TubeNames } from './tubes/tube-names.ts'

/** Used until the server has reported its own limit. */
const usualJobSize = 65_535

/**
 * Queues in Beanstalkd tubes. One connection sends, one claims and settles, and separate ones only wait for jobs. The server
 * keeps the leases: it returns a connection's jobs as soon as it closes, and those of a silent connection when their time to run
 * is over.
 */
export class BeanstalkdBackend implements QueueBackend {
  readonly kind = 'beanstalkd'
  /** The commands of one claim are pipelined; more of them would not be faster. */
  readonly largestClaim = 250
  readonly backlog: Backlog
  readonly #config: BeanstalkdConfig
  readonly #sender: Link
  readonly #worker: Link
  readonly #held = new HeldJobs()
  readonly #watchers = new Watchers()
  readonly #waiter: IdleWaiter
  readonly #unhandled = new UnhandledJobs()
  readonly #sending: Sending
  readonly #claiming: Claiming
  readonly #settling: Settling
  readonly #calls = new BackendCalls('beanstalkd')
  #maxJobSize = usualJobSize
  #closing: Promise<void> | undefined

  constructor(config: BeanstalkdConfig) {
    const { address, timeoutMs, prefix, ttr, clock, logger } = config
    const patience = { timeoutMs }
    this.#config = config
    this.#sender = new Link(address, patience)
    this.#worker = new Link(address, patience)
    const names = new TubeNames(prefix)
    const tubes = new TubeDirectory(names)
    const maxJobSize = () => this.#maxJobSize
    const copies = new Copies(names, tubes, maxJobSize)
    const held = this.#held
    const ended = new EndedJobs()
    this.#waiter = new IdleWaiter({
      open: () => Session.open(address, patience),
      held,
      isWatched: () => this.#watchers.size > 0,
      onFound: () => this.#watchers.notify(),
    })
    this.#sending = new Sending({ link: this.#sender, ended, names, tubes, ttr, maxJobSize, clock })
    const claimingDeps = { link: this.#worker, tubes, held, ended, copies, waiter: this.#waiter, unhandled: this.#unhandled }
    this.#claiming = new Claiming({ ...claimingDeps, clock, logger })
    this.#settling = new Settling({ link: this.#worker, held, ended, copies, clock })
    const tubeCounts = new TubeCounts(() => this.#sender.session(), names)
    this.backlog = { counts: () => this.#call(() => tubeCounts.counts()) }
  }

  /** How often jobs were put back because no worker of this program handles them, by job key. */
  get unhandled(): ReadonlyMap<string, number> {
    return this.#unhandled.counts
  }

  /** Queries the server once, so that opening the queue fails if it is unreachable, too old or not a Beanstalkd. */
  async open(): Promise<this> {
    try {
      const session = await this.#sender.connect()
      const stats = await statistics(session, 'stats')
      const version = statistic(stats ?? '', 'version') ?? ''
      this.#maxJobSize = Number(statistic(stats ?? '', 'max-job-size') ?? usualJobSize)
      if (isTooOld(version)) {
        throw new TreadleError(
          'CAPABILITY_MISSING',
          `Beanstalkd ${version} is too old: Treadle needs 1.12, which has reserve-job`,
        )
      }
      return this
    } catch (thrown) {
      await this[Symbol.asyncDispose]()
      throw thrown
    }
  }

  send(envelopes: readonly Envelope[]): Promise<readonly SendReceipt[]> {
    return this.#call(() => this.#sending.send(envelopes, (tube) => this.#putInto(tube)))
  }

  lease(request: LeaseRequest): Promise<LeaseBatch> {
    return this.#call(() => this.#claiming.lease(request))
  }

  settle(settlements: readonly Settlement[]): Promise<readonly SettleReceipt[]> {
    return this.#call(() => this.#settling.settle(settlements))
  }

  begin(tokens: readonly string[]): Promise<readonly SettleReceipt[]> {
    return this.#call(() => Promise.all(tokens.map((token) => this.#settling.begin(token))))
  }

  extend(tokens: readonly string[], leaseMs: number, alone = false): Promise<readonly SettleReceipt[]> {
    return this.#call(() => Promise.all(tokens.map((token) => this.#settling.extend(token, leaseMs, alone))))
  }

  /** The server returns expired leases by itself, and those of dead programs as soon as their connections close. */
  reap(): Promise<ReapReport> {
    return this.#call(async () => ({ returned: 0, poisoned: 0 }))
  }

  watch(wake: () => void): Watch {
    this.#calls.refuseClosed()
    const { close } = this.#watchers.watch(wake)
    const waiter = this.#waiter
    const end = () => {
      close()
      if (this.#watchers.size === 0) waiter.disarm()
    }
    return {
      get isPush() {
        return waiter.isWaiting
      },
      close: end,
    }
  }

  /** Earlier calls are still answered. */
  [Symbol.asyncDispose](): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    this.#watchers.close()
    this.#waiter.disarm()
    await this.#calls.close()
    this.#waiter.close()
    this.#worker.close()
    this.#sender.close()
  }

  /** If a connection is waiting on this tube, the server delivers the job to it. */
  #putInto(tube: string): void {
    if (!this.#waiter.waitsFor(tube)) this.#watchers.notify()
  }

  async #call<Answer>(act: () => Promise<Answer>): Promise<Answer> {
    try {
      return await this.#calls.run(act)
    } catch (thrown) {
      throw thrown instanceof TreadleError ? thrown : failure(thrown, this.#config)
    }
  }
}

function failure(thrown: unknown, { address: { host, port } }: BeanstalkdConfig): TreadleError {
  return new TreadleError('DATABASE_FAILED', `Beanstalkd at ${host}:${port}: ${messageOf(thrown)}`, { cause: thrown })
}

/** A version that is not a number is a build of the latest source. */
function isTooOld(version: string): boolean {
  const [, major, minor] = /^(\d+)\.(\d+)/.exec(version) ?? []
  return major !== undefined && (Number(major) < 1 || (Number(major) === 1 && Number(minor) < 12))
}
