import { readFileSync } from 'node:fs'
import { treadle } from 'treadle'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { ownServices } from '../services.ts'
import { scratchFolder } from './database.ts'
import { endPrograms, eventually, type Program, startProgram } from './program.ts'

let folder: ReturnType<typeof scratchFolder>
beforeEach(() => {
  folder = scratchFolder()
})
afterEach(async () => {
  await endPrograms()
  folder.remove()
})

/** More of them for a longer storm: `TREADLE_STORM_JOBS=100000`. */
const jobCount = Number(process.env.TREADLE_STORM_JOBS ?? 12_000)
const limitedCount = Math.ceil(jobCount / 40)
const workerCount = 4
const batchSize = 500
/** Between two calamities so many more jobs must have succeeded. */
const calmJobs = Math.ceil(jobCount / 8)

describe('a storm: four workers of 16 jobs each are killed at random, and the database is restarted below them', () => {
  test.each(['postgres', 'mariadb'] as const)(
    'on %s nothing is lost, no limit is exceeded, and no lease is settled twice',
    async (engine) => {
      const services = await ownServices([engine])
      try {
        const server = services.servers[engine]!
        const storm = new Storm(server.url)
        await storm.work()
        await storm.send()
        for (let calamity = 1; await storm.hasMoreThan(calamity * calmJobs); calamity++) {
          if (calamity % 2 === 0) await server.restart()
          else await storm.killOne()
        }
        await storm.calm()
        storm.check()
      } finally {
        await endPrograms()
        await services.stop()
      }
    },
    Math.max(600_000, jobCount * 20),
  )
})

interface Mark {
  readonly word: string
  readonly id: string
  readonly pid: number
  readonly at: number
}

class Storm {
  readonly #url: string
  readonly #jobs: ReturnType<typeof treadle>
  readonly #workers: Program[] = []
  readonly #log = folder.file('storm.log')
  /** When a worker was killed, by its pid: what it ran then ended there. */
  readonly #deaths = new Map<number, number>()
  #ids: readonly string[] = []
  #next = 0

  constructor(url: string) {
    this.#url = url
    this.#jobs = treadle(url, {
      signingKey: 'a key for tests, of 32 characters',
      logger: { debug() {}, info() {}, warn() {}, error() {} },
    })
  }

  async work(): Promise<void> {
    while (this.#workers.length < workerCount) await this.#startWorker()
  }

  async send(): Promise<void> {
    const [plain, limited] = [this.#jobs.declare('plain'), this.#jobs.declare('limited')]
    const ids: string[] = []
    for (let from = 0; from < jobCount; from += batchSize) {
      const count = Math.min(batchSize, jobCount - from)
      const runs = await plain.dispatchMany(Array.from({ length: count }, (_, index) => ({ number: from + index })))
      ids.push(...runs.map(({ id }) => id))
    }
    const runs = await limited.dispatchMany(Array.from({ length: limitedCount }, (_, number) => ({ number })))
    this.#ids = [...ids, ...runs.map(({ id }) => id)]
  }

  /** Waits for so many jobs to have succeeded; false when all of them had before. */
  async hasMoreThan(wanted: number): Promise<boolean> {
    if (wanted >= this.#ids.length) return false
    await eventually(`${wanted} jobs have succeeded`, async () => (await this.#succeeded()) >= wanted)
    return true
  }

  async killOne(): Promise<void> {
    const [victim] = this.#workers.splice(this.#next++ % this.#workers.length, 1)
    await victim!.kill()
    this.#deaths.set(victim!.pid, Date.now())
    await this.#startWorker()
  }

  async calm(): Promise<void> {
    await eventually('every job has succeeded', async () => (await this.#succeeded()) === this.#ids.length)
    for (const worker of this.#workers) worker.signal('SIGTERM')
    const endings = await Promise.all(this.#workers.map((worker) => worker.ended))
    expect(endings.map(({ code }) => code)).toEqual(this.#workers.map(() => 0))
    const counts = await (await this.#jobs.store()).counts()
    expect(
      counts.map(({ job, counts: { ready, running, dead, succeeded } }) => [job, ready, running, dead, succeeded]).sort(),
    ).toEqual([
      ['limited', 0, 0, 0, limitedCount],
      ['plain', 0, 0, 0, jobCount],
    ])
    await this.#jobs.close()
  }

  check(): void {
    const marks = this.#marks()
    const ended = marks.filter(({ word }) => word === 'end')
    const seen = new Set<string>()
    const repeated = new Set<string>()
    for (const { id } of ended) (seen.has(id) ? repeated : seen).add(id)
    // As lists: to compare two sets takes a look at each pair of members.
    expect([...seen].sort()).toEqual([...this.#ids].sort())
    const interrupted = new Set(marks.filter(({ pid }) => this.#deaths.has(pid)).map(({ id }) => id))
    const lost = new Set(marks.filter(({ word }) => word === 'lost').map(({ id }) => id))
    expect([...repeated].filter((id) => !interrupted.has(id) && !lost.has(id))).toEqual([])
    const limited = new Set(this.#ids.slice(jobCount))
    const limitedMarks = marks.filter(({ id }) => limited.has(id))
    expect(mostAtOnce(limitedMarks, this.#deaths)).toBeLessThanOrEqual(3)
    const troubles = this.#workers.flatMap(({ lines }) => lines.filter((line) => line.startsWith('trouble ')))
    expect(troubles.filter((line) => !line.startsWith('trouble DATABASE_UNREACHABLE'))).toEqual([])
  }

  async #startWorker(): Promise<void> {
    const worker = startProgram('storm-worker', { url: this.#url, log: this.#log })
    this.#workers.push(worker)
    await worker.line('working')
  }

  async #succeeded(): Promise<number> {
    try {
      const counts = await (await this.#jobs.store()).counts()
      return counts.reduce((sum, { counts: { succeeded } }) => sum + succeeded, 0)
    } catch {
      return 0
    }
  }

  #marks(): readonly Mark[] {
    const lines = readFileSync(this.#log, 'utf8').trimEnd().split('\n')
    return lines.map((line) => {
      const [word, id, pid, at] = line.split(' ') as [string, string, string, string]
      return { word, id, pid: Number(pid), at: Number(at) }
    })
  }
}

/** `start` is written after a run has begun and `end` before it is over: what overlaps here did overlap. A killed worker ends its runs. */
function mostAtOnce(marks: readonly Mark[], deaths: ReadonlyMap<number, number>): number {
  const changes: [at: number, change: number][] = []
  const open = new Map<string, number>()
  for (const { word, id, pid, at } of marks) {
    if (word === 'start') open.set(`${id} ${pid}`, at)
    const startedAt = word === 'end' ? open.get(`${id} ${pid}`) : undefined
    if (startedAt === undefined) continue
    changes.push([startedAt, 1], [at, -1])
    open.delete(`${id} ${pid}`)
  }
  for (const [run, at] of open) {
    const death = deaths.get(Number(run.split(' ')[1]))
    if (death !== undefined) changes.push([at, 1], [death, -1])
  }
  changes.sort(([a, one], [b, other]) => a - b || one - other)
  let running = 0
  let most = 0
  for (const [, change] of changes) {
    running += change
    most = Math.max(most, running)
  }
  return most
}
