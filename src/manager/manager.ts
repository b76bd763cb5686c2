import { BedrockClient } from '../client/bedrock/client.ts'
import type { BedrockJob } from '../client/bedrock/job.ts'
import { messageOf } from '../core/errors.ts'
import { pause, stopwatch } from '../core/time/clock.ts'
import type { ManagerReport } from './events.ts'
import { type ManagerConfig, type ManagerOptions, managerConfig } from './options.ts'
import { mayAskAgain } from './outage.ts'
import { report } from './reporting.ts'
import { Room } from './room.ts'
import { runWorker, type WorkerEnd } from './run-worker.ts'
import { VersionFile } from './version-file.ts'

/**
 * Waits until there is capacity, waits for jobs, starts a worker process for each, and repeats until it is stopped. If a manager
 * dies, the server hands out its jobs again once their leases have expired.
 */
export async function manage(options: ManagerOptions): Promise<ManagerReport> {
  const manager = new Manager(managerConfig(options))
  return manager.run()
}

const lookMs = 1_000
const waitMs = 60_000
/** Maximum number of jobs per request. */
const mostAtOnce = 10
const longestPauseMs = 30_000

class Manager {
  readonly #config: ManagerConfig
  readonly #room: Room
  /** Two connections: one waits for jobs, the other carries requests that must not queue behind that wait. */
  readonly #asking: BedrockClient
  readonly #reportingClient: BedrockClient
  readonly #draining = new AbortController()
  readonly #running = new Set<Promise<void>>()
  readonly #report = { finished: 0, retried: 0, failed: 0, returned: 0 }
  #wake: () => void = () => {}

  constructor(config: ManagerConfig) {
    const { host, port, tls, token, clock } = config
    const address = { host, port, tls, clock, ...(token !== undefined && { token }) }
    this.#config = config
    this.#room = new Room(config)
    this.#asking = new BedrockClient(address, { isExact: true })
    this.#reportingClient = new BedrockClient(address, { isExact: true })
  }

  async run(): Promise<ManagerReport> {
    const { host, port, name, workers, onEvent, signal, maxIterations } = this.#config
    const stop = () => this.#drain('it was asked to stop')
    signal.addEventListener('abort', stop)
    if (signal.aborted) stop()
    onEvent({ event: 'manager:started', server: `${host}:${port}`, name, workers })
    const looking = this.#look()
    try {
      for (let turn = 0; turn < maxIterations && !this.#isDraining; turn++) await this.#turn()
      this.#drain('it has reached its maximum number of iterations')
    } catch (thrown) {
      this.#drain('the server refuses it')
      throw thrown
    } finally {
      await this.#allEnded()
      signal.removeEventListener('abort', stop)
      this.#asking.close()
      this.#reportingClient.close()
    }
    await looking
    onEvent({ event: 'manager:stopped', ...this.#report })
    return { ...this.#report }
  }

  get #isDraining(): boolean {
    return this.#draining.signal.aborted
  }

  #drain(why: string): void {
    if (this.#isDraining) return
    this.#draining.abort()
    this.#config.onEvent({ event: 'manager:draining', why, running: this.#running.size })
    this.#wake()
  }

  async #turn(): Promise<void> {
    const room = await this.#roomToBegin()
    if (room === 0) return
    for (const job of await this.#jobs(Math.min(room, mostAtOnce))) this.#begin(job)
  }

  /** Waits until more jobs can be started and returns how many. Returns 0 if the manager is draining. */
  async #roomToBegin(): Promise<number> {
    for (;;) {
      if (this.#isDraining) return 0
      const room = this.#room.left(this.#running.size)
      if (room > 0) return room
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
  }

  /**
   * Waits for jobs at the server, and keeps trying while the server cannot be reached. Throws if the server refuses to hand out
   * jobs.
   */
  async #jobs(count: number): Promise<readonly BedrockJob[]> {
    const { name, clock, onEvent } = this.#config
    const { signal } = this.#draining
    for (let pauseMs = lookMs; !signal.aborted; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
      try {
        return await this.#asking.getJobs(name, count, { wait: waitMs, signal })
      } catch (thrown) {
        if (signal.aborted) break
        if (!mayAskAgain(thrown)) throw thrown
        onEvent({ event: 'manager:trouble', error: messageOf(thrown) })
        await pause(clock, pauseMs, signal)
      }
    }
    return []
  }

  #begin(job: BedrockJob): void {
    const work = this.#work(job).finally(() => {
      this.#running.delete(work)
      this.#wake()
    })
    this.#running.add(work)
  }

  async #work(job: BedrockJob): Promise<void> {
    const { workers, name, timeLimitMs, env, clock, abort, onEvent } = this.#config
    const known = { jobID: job.jobID, job: job.name }
    onEvent({ event: 'job:started', ...known })
    const durationMs = stopwatch()
    const end = await runWorker(job, { folder: workers, pattern: name, timeLimitMs, env, clock, abort })
    const onTrouble = (error: string) => onEvent({ event: 'manager:trouble', error })
    const reported = await report(job, end, { client: this.#reportingClient, clock, abort, onTrouble })
    if (reported !== null) this.#count(reported, { ...known, durationMs: Math.round(durationMs()) })
  }

  #count(end: WorkerEnd, known: { readonly jobID: number; readonly job: string; readonly durationMs: number }): void {
    const { onEvent } = this.#config
    this.#report[end.kind]++
    if (end.kind === 'failed') onEvent({ event: 'job:failed', ...known, error: end.error })
    else if (end.kind === 'retried') onEvent({ event: 'job:retried', ...known, delaySeconds: end.delaySeconds })
    else onEvent({ event: `job:${end.kind}`, ...known })
  }

  async #allEnded(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running)
  }

  /** Checks the version file and adapts the job limit once a second, until the manager drains. */
  async #look(): Promise<void> {
    const { clock, versionFile } = this.#config
    const file = versionFile === undefined ? undefined : new VersionFile(versionFile)
    while (!this.#isDraining) {
      if (await file?.hasChanged()) this.#drain(`${versionFile} has changed`)
      await pause(clock, lookMs, this.#draining.signal)
      this.#room.adapt(this.#running.size)
      this.#wake()
    }
  }
}
