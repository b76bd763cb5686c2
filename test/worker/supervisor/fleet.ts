import type { HeldLease } from '../../../src/queue/contract/store.ts'
import { ManualClock } from '../../../src/testing/manual-clock.ts'
import { workerConfig } from '../../../src/worker/config.ts'
import { emptyTally, type RunReport } from '../../../src/worker/runs/report.ts'
import { type Buried, nothingBuried } from '../../../src/worker/supervisor/casualties.ts'
import { type SupervisorOptions, supervisorConfig } from '../../../src/worker/supervisor/config.ts'
import type { SupervisorEvents } from '../../../src/worker/supervisor/events.ts'
import type { ChildListener, ChildOrder, Exit } from '../../../src/worker/supervisor/messages.ts'
import { Supervisor, type SupervisorReport } from '../../../src/worker/supervisor/supervisor.ts'

/** A process that only does what a test has it do. */
export class FakeProcess {
  readonly pid: number
  readonly place: number
  readonly orders: (ChildOrder | 'kill')[] = []
  readonly listener: ChildListener
  isAlive = true

  constructor(pid: number, place: number, listener: ChildListener) {
    this.pid = pid
    this.place = place
    this.listener = listener
  }

  get owner(): string {
    return `owner-${this.pid}`
  }

  ready(): void {
    this.listener.onMessage({ kind: 'ready', owner: this.owner })
  }

  uses(jobs: number, rssBytes = 0): void {
    this.listener.onMessage({ kind: 'usage', jobs, rssBytes })
  }

  fails(code: string, message = 'it is wrong'): void {
    this.listener.onMessage({ kind: 'failed', code, message })
    this.exits({ code: 1, signal: null })
  }

  ends(report: Partial<RunReport> = {}): void {
    this.listener.onMessage({ kind: 'report', report: { ...emptyTally(), ...report } })
    this.exits({ code: 0, signal: null })
  }

  exits(exit: Exit = { code: null, signal: 'SIGKILL' }): void {
    this.isAlive = false
    this.listener.onExit(exit)
  }
}

type Told = { readonly name: keyof SupervisorEvents } & Record<string, unknown>

/** A supervisor over processes that a test plays, on a clock that is moved by hand. */
export class Fleet {
  readonly clock = new ManualClock()
  readonly processes: FakeProcess[] = []
  readonly told: Told[] = []
  readonly buried: { readonly owner: string; readonly overdue: readonly HeldLease[] }[] = []
  readonly supervisor: Supervisor
  overdue: readonly HeldLease[] = []
  /** Awaited at each look at the runs. */
  look: () => Promise<void> = async () => {}
  bury: () => Promise<Buried> = async () => nothingBuried
  ended: Promise<SupervisorReport> | undefined

  constructor(options: SupervisorOptions, grace = '30s') {
    this.supervisor = new Supervisor(supervisorConfig(options, workerConfig({ grace }, 'work')), {
      clock: this.clock,
      start: (place, listener) => this.#start(place, listener),
      overdue: async (owners) => {
        await this.look()
        return this.overdue.filter(({ owner }) => owners.includes(owner))
      },
      bury: (owner, overdue) => {
        this.buried.push({ owner, overdue })
        return this.bury()
      },
      tell: (name, event) => void this.told.push({ name, ...event } as Told),
    })
  }

  /** The processes that were wanted are about to work. */
  begin(): void {
    this.ended = this.supervisor.run()
    // A test that looks at it is told; the others need not be.
    this.ended.catch(() => {})
  }

  /** All of them work. */
  async start(): Promise<void> {
    this.begin()
    for (const each of this.living) each.ready()
    await this.turn()
  }

  get living(): readonly FakeProcess[] {
    return this.processes.filter(({ isAlive }) => isAlive)
  }

  get(pid: number): FakeProcess {
    return this.processes[pid - 1] as FakeProcess
  }

  names(): readonly string[] {
    return this.told.map(({ name }) => name)
  }

  last(name: keyof SupervisorEvents): Told | undefined {
    return this.told.findLast((each) => each.name === name)
  }

  turn(): Promise<void> {
    return this.clock.advance(0)
  }

  #start(place: number, listener: ChildListener) {
    const started = new FakeProcess(this.processes.length + 1, place, listener)
    this.processes.push(started)
    return {
      pid: started.pid,
      tell: (order: ChildOrder) => void started.orders.push(order),
      kill() {
        started.orders.push('kill')
        // As of a real one, its end is heard of later.
        setImmediate(() => started.isAlive && started.exits())
      },
    }
  }
}

export function held(owner: string, more: Partial<HeldLease> = {}): HeldLease {
  const lease = { token: `token-of-${owner}`, id: 'id-1', job: 'work', identity: '', attempt: 1, claimedAt: 0, expiresAt: 0 }
  return { ...lease, owner, ...more }
}
