import { readWholeLog } from '../../app/handles/job-log.ts'
import { messageOf } from '../../core/errors.ts'
import { type Clock, pause } from '../../core/time/clock.ts'
import { treeCounts } from '../../queue/contract/queue-counts.ts'
import type { JobStore } from '../../queue/contract/store.ts'
import { type Looked, lookAt } from '../health.ts'
import { jobDetails } from '../output/jobs/job-details.ts'
import type { Output } from '../output/output.ts'
import type { ScheduleStatus } from '../schedules/schedules.ts'
import { clipped, frameOf, keyLines, plainFrame } from './frame.ts'
import { type Chosen, type Panel, panels, rowKey, rowsOf, type View } from './panels.ts'
import { Rates } from './rates.ts'
import { type Key, type KeySource, type Screen, Terminal } from './terminal.ts'

export interface TopDeps {
  readonly url: string
  readonly store: JobStore
  readonly schedules: (now: number) => Promise<readonly ScheduleStatus[]>
  readonly clock: Clock
  readonly out: Output
}

/** Maximum number of rows that are read; no terminal shows more. */
const mostRows = 100
const nothing: Looked = { now: 0, counts: [], paused: [], pausedJobs: [], workers: [], schedules: [], deadInHour: 0 }

/** One frame, without a terminal. */
export async function topOnce(deps: TopDeps): Promise<string> {
  const top = new Top(deps, 0)
  await top.look()
  return plainFrame({ ...top.view, row: -1 }, deps.out.width, deps.out.colours)
}

/** What is shown, and how keys change it. */
export class Top {
  readonly #deps: TopDeps
  readonly #intervalMs: number
  readonly #rates = new Rates()
  readonly #ending = new AbortController()
  #looked: Looked = nothing
  #running: View['running'] = []
  #dead: View['dead'] = []
  #panel: Panel = 'queues'
  /** The selected row of each panel. It is followed when the rows move, so that keys act on what was selected. */
  readonly #selected = new Map<Panel, { readonly key: string; readonly row: number }>()
  #message: string | null = null
  /** The details of the opened job, as lines, and how far they are scrolled. */
  #details: { readonly lines: readonly string[]; from: number } | null = null
  #terminal: Terminal | null = null
  #acting: Promise<void> = Promise.resolve()

  constructor(deps: TopDeps, intervalMs: number) {
    this.#deps = deps
    this.#intervalMs = intervalMs
  }

  /** Runs until the user quits or the signal aborts. Then restores the terminal. */
  async show(input: KeySource, screen: Screen, signal: AbortSignal): Promise<void> {
    const terminal = new Terminal(
      input,
      screen,
      (key) => this.#press(key),
      () => this.#draw(),
    )
    this.#terminal = terminal
    const end = () => this.#ending.abort()
    const giveBack = () => terminal.giveBack()
    signal.addEventListener('abort', end)
    if (signal.aborted) end()
    process.once('exit', giveBack)
    terminal.take()
    try {
      while (!this.#ending.signal.aborted) {
        await this.#lookOrTell()
        this.#draw()
        await pause(this.#deps.clock, this.#intervalMs, this.#ending.signal)
      }
      await this.#acting
    } finally {
      terminal.giveBack()
      process.off('exit', giveBack)
      signal.removeEventListener('abort', end)
    }
  }

  get view(): View {
    const view = {
      url: this.#deps.url,
      looked: this.#looked,
      rates: this.#rates,
      running: this.#running,
      dead: this.#dead,
      panel: this.#panel,
      message: this.#message,
    }
    const rows = rowsOf({ ...view, row: 0 })
    const selected = this.#selected.get(this.#panel)
    const at = rows.findIndex((row) => rowKey(row) === selected?.key)
    return { ...view, row: at >= 0 ? at : Math.max(0, Math.min(selected?.row ?? 0, rows.length - 1)) }
  }

  async look(): Promise<void> {
    const { store, clock, schedules } = this.#deps
    const now = clock.now()
    const [looked, running] = await Promise.all([
      lookAt(store, now, schedules),
      store.list({ state: 'running', limit: mostRows }),
    ])
    const isAnyDead = looked.counts.some(({ counts }) => counts.dead > 0)
    this.#dead = isAnyDead ? await store.list({ state: 'dead', limit: mostRows }) : []
    this.#looked = looked
    this.#running = running
    this.#rates.add(looked.counts, now)
  }

  /** If the database is unavailable, shows the error; the next refresh tries again. */
  async #lookOrTell(): Promise<void> {
    try {
      await this.look()
    } catch (thrown) {
      this.#message = messageOf(thrown)
    }
  }

  #draw(): void {
    const terminal = this.#terminal
    if (terminal === null) return
    const { columns, rows } = terminal
    const { colours } = this.#deps.out
    if (this.#details === null) {
      terminal.draw(frameOf(this.view, { columns, rows }, colours))
      return
    }
    const { lines, from } = this.#details
    const shown = lines.slice(from, from + rows - 1).map((line) => clipped(line, columns))
    const foot = colours.dim(`↑↓ scroll  Esc back  q quit  (line ${from + 1} of ${lines.length})`)
    terminal.draw([...shown, clipped(foot, columns)])
  }

  #press(key: Key): void {
    if (key === 'quit') {
      this.#ending.abort()
      return
    }
    if (this.#details !== null) this.#scroll(key)
    else this.#choose(key)
    this.#draw()
  }

  #scroll(key: Key): void {
    const details = this.#details
    if (details === null) return
    if (key === 'back' || key === 'enter' || key === 'help') this.#details = null
    if (key === 'down') details.from = Math.min(details.from + 1, Math.max(0, details.lines.length - 1))
    if (key === 'up') details.from = Math.max(0, details.from - 1)
  }

  #choose(key: Key): void {
    const { row } = this.view
    const chosen = rowsOf(this.view)[row]
    this.#message = null
    if (key === 'down') this.#select(row + 1)
    if (key === 'up') this.#select(row - 1)
    if (key === 'help') this.#details = { lines: keyLines, from: 0 }
    if (key === 'next' || key === 'previous') this.#turn(key === 'next' ? 1 : -1)
    if (key === 'pause' || key === 'retry' || key === 'enter') this.#act(key, chosen)
  }

  #turn(by: number): void {
    const at = panels.indexOf(this.#panel)
    this.#panel = panels[(at + by + panels.length) % panels.length] as Panel
    this.#select(this.view.row)
  }

  #select(row: number): void {
    const rows = rowsOf(this.view)
    const at = Math.max(0, Math.min(row, rows.length - 1))
    const chosen = rows[at]
    if (chosen !== undefined) this.#selected.set(this.#panel, { key: rowKey(chosen), row: at })
  }

  /** Runs actions one after the other, and shows the result. */
  #act(key: 'pause' | 'retry' | 'enter', chosen: Chosen | undefined): void {
    const { store } = this.#deps
    const act = async () => {
      if (chosen === undefined) return 'nothing is chosen'
      if (key === 'pause') return pauseOrResume(store, chosen)
      if (key === 'retry') return retry(store, chosen)
      return this.#open(chosen)
    }
    this.#acting = this.#acting
      .then(act)
      .catch(messageOf)
      .then(async (message) => {
        if (message !== null) this.#message = message
        await this.look().catch(() => {})
        this.#draw()
      })
  }

  async #open(chosen: Chosen): Promise<string | null> {
    if (chosen.kind !== 'job') return 'Enter looks into a job: choose one in RUNNING or DEAD (Tab)'
    const { store, out, clock } = this.#deps
    const job = await store.get(chosen.id)
    if (job === null) return 'the job is gone'
    const links = await store.links(job.id)
    const tree = job.root === null ? null : await treeCounts(store, job.root)
    const log = await readWholeLog(store.logs, job.id, null)
    this.#details = { lines: jobDetails({ job, links, tree, log }, out, clock.now()).split('\n'), from: 0 }
    return null
  }
}

async function pauseOrResume(store: JobStore, chosen: Chosen): Promise<string> {
  if (chosen.kind !== 'queue' && chosen.kind !== 'schedule') return 'p pauses a queue or a schedule: choose one (Tab)'
  const { name, isPaused } = chosen
  if (chosen.kind === 'queue') await store.setPaused({ queue: name }, !isPaused)
  else await store.schedules.change(name, isPaused ? 'resume' : 'pause')
  return `${isPaused ? 'resumed' : 'paused'} ${chosen.kind === 'queue' ? 'the queue' : 'the schedule'} ${name}`
}

async function retry(store: JobStore, chosen: Chosen): Promise<string> {
  if (chosen.kind !== 'job') return 'r retries a job: choose one in DEAD (Tab)'
  const [answer] = await store.retry([chosen.id])
  const words = {
    requeued: 'is back in the queue',
    active: 'has not ended yet',
    conflict: 'is left alone: another unfinished job has its unique key',
    missing: 'is gone',
  }
  return `${chosen.id} ${words[answer ?? 'missing']}`
}
