import { fileURLToPath } from 'node:url'
import type { MoveReport } from '../../src/moving/index.ts'
import { repeatedIds, SoakLog } from '../deep/soak-log.ts'
import { eventually, type Program, startProgramFile } from '../processes/program.ts'

const programs = {
  mover: fileURLToPath(new URL('./programs/mover.mjs', import.meta.url)),
  producer: fileURLToPath(new URL('../deep/programs/soak-producer.mjs', import.meta.url)),
  worker: fileURLToPath(new URL('../deep/programs/soak-worker.mjs', import.meta.url)),
}

export interface LiveMoveOptions {
  readonly from: string
  readonly to: string
  /** What producers and workers append to. */
  readonly log: string
  /** About as many are sent to each side. */
  readonly jobs: number
  /** How often the mover is killed. */
  readonly kills: number
  /** For how long jobs are left alone after they were sent. */
  readonly settle: string
  readonly workers?: 'both' | 'target'
  /** How many times as many parcels pass between two kills; 1 where it is left out. */
  readonly stride?: number
  /** Is called at each kill: before it, so that the mover sees what happens, and after it in turn. */
  readonly disturb?: () => Promise<void>
}

/** A move while a producer and a worker use each side, and the mover is killed again and again. */
export class LiveMove {
  readonly log: SoakLog
  readonly #options: LiveMoveOptions
  moverStarts = 0

  constructor(options: LiveMoveOptions) {
    this.#options = options
    this.log = new SoakLog(options.log)
  }

  async run(): Promise<MoveReport> {
    const { from, to, log, jobs, kills, stride = 1, disturb, workers = 'both' } = this.#options
    const sides = [from, to]
    const producers = sides.map((url) => startProgramFile(programs.producer, { url, log, count: jobs }))
    await Promise.all(producers.map((producer) => producer.line('producing')))
    const working = workers === 'both' ? sides : [to]
    const running = working.map((url) => startProgramFile(programs.worker, { url, log }))
    for (let kill = 0; kill < kills; kill++) {
      const mover = this.#startMover()
      const lines = stride * (2 + ((kill * 7) % 5))
      await eventually(`the mover moves for the ${kill + 1}. time`, () => mover.hasEnded || progressLines(mover) >= lines)
      if (kill % 2 === 0) await disturb?.()
      await mover.kill()
      if (kill % 2 === 1) await disturb?.()
    }
    for (const producer of producers) await producer.ended
    const report = await this.#finish()
    await this.#allEnded()
    for (const worker of running) await worker.kill()
    return report
  }

  /** Jobs that were acknowledged and did not run to their end, and those that did so more than once. */
  check(): { readonly lost: readonly string[]; readonly repeated: readonly string[]; readonly acked: number } {
    const marks = this.log.read()
    const ended = this.log.idsOf('end')
    const acked = [...this.log.idsOf('acked')]
    return {
      lost: acked.filter((id) => !ended.has(id)),
      repeated: repeatedIds(marks.filter(({ word }) => word === 'end')),
      acked: acked.length,
    }
  }

  /**
   * Jobs that were settled by two runs. Where a server is killed, a run whose end was not acknowledged may be followed by another
   * one, as it may without a move; but only one of them is ever told that its end counts.
   */
  ranTwice(): readonly string[] {
    return repeatedIds(this.log.read().filter(({ word }) => word === 'settled'))
  }

  async #finish(): Promise<MoveReport> {
    const mover = this.#startMover()
    const line = await mover.line('done')
    return JSON.parse(line.slice('done '.length)) as MoveReport
  }

  #startMover(): Program {
    const { from, to, settle } = this.#options
    this.moverStarts++
    return startProgramFile(programs.mover, { from, to, live: true, settle, idle: '1s' })
  }

  async #allEnded(): Promise<void> {
    for (;;) {
      const { lost } = this.check()
      if (lost.length === 0) return
      const ended = this.log.idsOf('end').size
      const more = () => this.check().lost.length === 0 || this.log.idsOf('end').size > ended
      await eventually(`more jobs end: ${this.#known(lost)}`, more)
    }
  }

  /** What the logs tell of the first of these jobs. */
  #known(ids: readonly string[]): string {
    const marks = this.log.read().filter(({ id }) => id === ids[0])
    const told = marks.map(({ word, pid, at, detail }) => `${word} by ${pid} at ${at} ${detail}`)
    return `${ids.length} have not, such as ${ids[0]}: ${told.join(', ')}`
  }
}

function progressLines(mover: Program): number {
  return mover.lines.filter((line) => line.startsWith('progress ')).length
}
