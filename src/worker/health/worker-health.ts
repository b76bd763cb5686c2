import { type MachineUse, machineMeter } from '../../core/process/machine.ts'
import type { Clock } from '../../core/time/clock.ts'
import { type ActiveRun, abortGraceMs } from '../../execution/attempt/active-run.ts'
import type { QueueBackend } from '../../queue/contract/contract.ts'
import type { Observers } from '../../telemetry/observer.ts'
import type { WorkerConfig } from '../config.ts'
import { countedCalls, type QueueCalls } from '../loop/queue-calls.ts'
import { Breaker, type BreakerConfig } from './breaker/breaker.ts'
import { Heartbeat } from './heartbeat.ts'
import { LoadControl } from './load/load-control.ts'
import { StallWatch } from './stalls/stall-watch.ts'
import type { WorkerLog } from './worker-log.ts'
import type { WorkerState } from './worker-state.ts'

export interface WorkerHealthDeps {
  readonly backend: QueueBackend
  readonly clock: Clock
  readonly owner: string
  readonly observers: Observers
  /** Measures the load of the machine. Default: the real meter. */
  readonly meter?: () => () => MachineUse
}

/** What the health checks need to know about the worker. */
export interface WorkerHealthOptions {
  readonly workerLog: WorkerLog
  /** The leases held now, and whether there are any. The former is expensive, the latter is cheap. */
  readonly held: () => readonly string[]
  readonly isHolding: () => boolean
  readonly running: () => readonly ActiveRun[]
  readonly onLost: (token: string) => void
  readonly onRenewed: (tokens: ReadonlySet<string>, sinceAsked: () => number) => void
  /** Called when more jobs may run at once than before. */
  readonly onRise: () => void
  /** Called when the queue responds again. */
  readonly onRecovered: () => void
}

/** Keeps a worker healthy: renews its leases and monitors its queue, its event loop and its machine. */
export class WorkerHealth {
  /** The queue, with all calls reported to the breaker. */
  readonly queue: QueueCalls
  readonly breaker: Breaker
  readonly heartbeat: Heartbeat
  readonly stallWatch: StallWatch
  readonly #load: LoadControl

  constructor(config: WorkerConfig, deps: WorkerHealthDeps, options: WorkerHealthOptions) {
    const { backend, clock, owner, observers, meter = machineMeter } = deps
    const { leaseMs, stallMs, maxStallMs, concurrency, maxLoad } = config
    const { workerLog, held, isHolding, running, onLost, onRenewed, onRise } = options
    this.breaker = new Breaker(config.breaker, clock, (change) => {
      workerLog.breaker(change, config.breaker as BreakerConfig)
      if (change.state === 'closed') options.onRecovered()
    })
    this.queue = countedCalls(backend, this.breaker, observers)
    this.heartbeat = new Heartbeat({
      queue: this.queue,
      standIn: () => backend.standIn?.({ owner, leaseMs, graceMs: abortGraceMs, longestMs: maxStallMs }),
      clock,
      leaseMs,
      held,
      onLost,
      onRenewed,
      onError: (error) => workerLog.error(error),
      onNoStandIn: (error) => workerLog.failed('leases will not be renewed while the event loop stands still', error),
    })
    this.stallWatch = new StallWatch({
      clock,
      leaseMs,
      stallMs,
      running,
      isHolding,
      onLive: () => this.heartbeat.live(),
      onRest: () => this.heartbeat.rest(),
      onStall: (stall) => workerLog.stalled(stall),
    })
    const lagMs = () => this.stallWatch.takeLagMs()
    const onChange = workerLog.load.bind(workerLog)
    this.#load = new LoadControl({ concurrency, limits: maxLoad, clock, meter, lagMs, onRise, onChange })
  }

  /** Maximum number of jobs that may run at once now. */
  get allowed(): number {
    return this.#load.allowed
  }

  get state(): Pick<WorkerState, 'allowed' | 'breaker' | 'load'> {
    return { allowed: this.#load.allowed, breaker: this.breaker.state, load: this.#load.load }
  }

  start(): void {
    this.heartbeat.start()
    this.#load.start()
  }

  stop(): void {
    this.#load.stop()
    this.stallWatch.stop()
    this.heartbeat.stop()
  }
}
