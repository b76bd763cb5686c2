import type { ServerEvent } from '../api/event-shapes.ts'
import type { Stats, Workers } from '../api/queue-shapes.ts'
import type { RemoteHandlers, RemoteWorkOptions } from '../remote-options.ts'
import { RemoteWorker } from '../remote-worker.ts'
import { type CallOptions, Calls, type ClientOptions } from './calling.ts'
import { type FollowOptions, followEvents } from './event-calls.ts'
import { JobCalls } from './job-calls.ts'
import { LeaseCalls } from './lease-calls.ts'
import { DeadCalls, QueueCalls, ScheduleCalls } from './operating-calls.ts'

/** A client of a job server: of the HTTP API that `treadle serve` provides. */
export function treadleClient(options: ClientOptions): TreadleClient {
  return new TreadleClient(options)
}

/** A typed client of the HTTP API. */
export class TreadleClient {
  readonly jobs: JobCalls
  readonly leases: LeaseCalls
  readonly queues: QueueCalls
  readonly schedules: ScheduleCalls
  readonly dead: DeadCalls
  readonly #calls: Calls

  constructor(options: ClientOptions) {
    this.#calls = new Calls(options)
    this.jobs = new JobCalls(this.#calls)
    this.leases = new LeaseCalls(this.#calls)
    this.queues = new QueueCalls(this.#calls)
    this.schedules = new ScheduleCalls(this.#calls)
    this.dead = new DeadCalls(this.#calls)
  }

  /** Runs jobs with these names until it is stopped. */
  work<Payloads extends Readonly<Record<string, unknown>>>(
    handlers: RemoteHandlers<Payloads>,
    options: RemoteWorkOptions = {},
  ): RemoteWorker {
    return new RemoteWorker(handlers, options, { leases: this.leases, clock: this.#calls.clock })
  }

  /**
   * The events of all processes of the queue: `for await (const event of client.events())`. Reconnects when the
   * connection is lost.
   */
  events(options: FollowOptions = {}): AsyncGenerator<ServerEvent, void> {
    return followEvents(this.#calls, options)
  }

  /** All counts. */
  stats(options?: CallOptions): Promise<Stats> {
    return this.#calls.call('stats', options)
  }

  /** The workers that are connected to the database itself. */
  async workers(options?: CallOptions): Promise<Workers['workers']> {
    return (await this.#calls.call('listWorkers', options)).workers
  }

  /** Throws if the server is not running or cannot reach its database. */
  async ready(options?: CallOptions): Promise<void> {
    await this.#calls.call('ready', options)
  }
}
