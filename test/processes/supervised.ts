import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { treadle } from 'treadle'
import { onTestFinished } from 'vitest'
import { configText, Project, type Running } from '../cli/project.ts'
import { isAlive } from './alive.ts'
import { query } from './database.ts'
import { eventually } from './program.ts'

/** Handlers that behave in every way; those that wait do so until the file `go` is there. */
const jobsText = `import { appendFileSync, existsSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { jobs } from 'treadle'
const kept: Buffer[] = []
jobs.define('quick', () => {})
jobs.define('logs', (n: number) => appendFileSync('ran.log', n + '\\n'))
jobs.define('finishes', async () => {
  appendFileSync('begun.log', '.')
  while (!existsSync('go')) await sleep(10)
})
jobs.define('heeds', (_: unknown, ctx) => {
  appendFileSync('begun.log', '.')
  return sleep(3_600_000, undefined, { signal: ctx.signal })
})
jobs.define('leaves', () => new Promise(() => {})).timeout('50ms')
jobs.define('blocks', () => {
  appendFileSync('begun.log', '.')
  for (;;) {}
})
jobs.define('spins', (_: unknown, ctx) => {
  while (ctx.attempt === 1) {}
}).timeout('50ms').retries(1, { strategy: 'none' })
jobs.define('crashes', () => process.exit(7))
jobs.define('grows', () => void kept.push(Buffer.alloc(200 * 1024 * 1024, 1)))
`

export interface JobRow {
  readonly job: string
  readonly state: string
  readonly attempts: number
  readonly rescues: number
  readonly reason: string | null
  readonly errors: string | null
}

const states = ['ready', 'scheduled', 'blocked', 'running', 'succeeded', 'dead', 'cancelled', 'skipped']

/** A project with a database, in which worker processes are led by `treadle work --processes`. */
export class SupervisedProject extends Project {
  readonly database = this.path('jobs.db')

  constructor(files: Readonly<Record<string, string>> = {}) {
    super({ 'treadle.config.ts': configText, 'jobs/all.ts': jobsText, ...files })
  }

  supervise(...args: readonly string[]): Supervisor {
    return new Supervisor(this.start(['work', '--json', ...args]))
  }

  /** By a program of its own, which needs to know nothing of the project but its database. */
  async send(job: string, ...payloads: readonly number[]): Promise<void> {
    const jobs = treadle(`sqlite:${this.database}`)
    try {
      const declared = jobs.declare<number>(job)
      for (const payload of payloads.length === 0 ? [1] : payloads) await declared.dispatch(payload)
    } finally {
      await jobs.close()
    }
  }

  /** By the project itself, with the timeout and the retries that its definition says. */
  async sendDefined(job: string): Promise<void> {
    await this.json(['send', job])
  }

  /** What waits for the file goes on. */
  go(): void {
    writeFileSync(this.path('go'), '')
  }

  /** So many jobs that do not end by themselves have begun; a job that is claimed may still wait for a free hand. */
  async begun(count: number): Promise<void> {
    const log = this.path('begun.log')
    await eventually(`${count} jobs have begun`, () => existsSync(log) && readFileSync(log, 'utf8').length >= count)
  }

  rows(): readonly JobRow[] {
    const rows = query<Omit<JobRow, 'state'> & { state: number }>(
      this.database,
      `SELECT lanes.job, state, attempts, rescues, reason, errors FROM treadle_jobs JOIN treadle_lanes AS lanes USING (lane) ORDER BY id`,
    )
    return rows.map((row) => ({ ...row, state: states[row.state] as string }))
  }

  async settled(job: string, state: string, count = 1): Promise<void> {
    await eventually(`${count} ${job} ${state}`, () => this.#count(job, state) >= count)
  }

  #count(job: string, state: string): number {
    return this.rows().filter((row) => row.job === job && row.state === state).length
  }
}

interface Event {
  readonly event: string
  readonly child?: number
  readonly pid?: number
  readonly [field: string]: unknown
}

/** `treadle work --processes` under way. */
export class Supervisor {
  readonly running: Running
  readonly events: Event[] = []

  constructor(running: Running) {
    this.running = running
    createInterface({ input: running.child.stdout! }).on('line', (line) => this.events.push(JSON.parse(line) as Event))
    onTestFinished(() => {
      for (const pid of this.pids()) process.kill(pid, 'SIGKILL')
    })
  }

  get pid(): number {
    return this.running.child.pid!
  }

  signal(name: NodeJS.Signals): void {
    this.running.child.kill(name)
  }

  of(name: string): readonly Event[] {
    return this.events.filter(({ event }) => event === name)
  }

  async until(name: string, count = 1): Promise<readonly Event[]> {
    await eventually(`${count} ${name}: ${this.events.map(({ event }) => event)}`, () => this.of(name).length >= count)
    return this.of(name)
  }

  /** Those that live: the workers, and the one that leads them. */
  pids(): readonly number[] {
    const workers = this.of('child:started').map(({ pid }) => pid as number)
    return [this.pid, ...workers].filter(isAlive)
  }

  async untilNoneIsLeft(): Promise<void> {
    await eventually('no process is left', () => this.pids().length === 0)
  }
}
