import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { scratchFolder } from '../processes/database.ts'
import { endPrograms, type Program, startProgramFile } from '../processes/program.ts'
import { canStart, ownServices } from '../services.ts'
import { marksByGroup, mostAtOnce, repeatedIds, SoakLog } from './soak-log.ts'

let folder: ReturnType<typeof scratchFolder>
beforeEach(() => {
  folder = scratchFolder()
})
afterEach(async () => {
  await endPrograms()
  folder.remove()
})

/** Acknowledged jobs of each engine. */
const jobCount = Number(process.env.TREADLE_SOAK_JOBS ?? 100_000)
const workerCount = 3
const producerCount = 2
const calamityCount = 40
/** Whether it goes on is looked at by itself: however slow the machine is, only a standstill fails. */
const patience = { timeout: 24 * 3_600_000 }

describe('a soak: workers, producers and servers are killed, and workers are stopped for a while, under load of all kinds', () => {
  test('on sqlite nothing that was acknowledged is lost, and nothing is settled twice', patience, async () => {
    const soak = new Soak(`sqlite:${folder.file('jobs.db')}`, null)
    await soak.run()
    soak.check()
  })

  test.skipIf(!canStart('postgres'))('on postgres', patience, () => soakOnServer('postgres'))
  test.skipIf(!canStart('mariadb'))('on mariadb', patience, () => soakOnServer('mariadb'))
  test.skipIf(!canStart('redis'))('on redis', patience, () => soakOnServer('redis'))
})

async function soakOnServer(engine: 'postgres' | 'mariadb' | 'redis'): Promise<void> {
  const services = await ownServices([engine])
  try {
    const server = services.servers[engine]!
    const soak = new Soak(server.url, async () => {
      await server.kill()
      await server.start()
    })
    await soak.run()
    soak.check()
  } finally {
    await endPrograms()
    await services.stop()
  }
}

class Soak {
  readonly #url: string
  readonly #crashServer: (() => Promise<void>) | null
  readonly #path = folder.file('soak.log')
  readonly #log = new SoakLog(this.#path)
  readonly #workers: Program[] = []
  readonly #producers: Program[] = []
  /** Processes that were killed or stopped for a while: what they ran may run again. */
  readonly #disturbed = new Set<number>()
  readonly #happened: Record<string, number> = {}
  #turn = 0

  constructor(url: string, crashServer: (() => Promise<void>) | null) {
    this.#url = url
    this.#crashServer = crashServer
  }

  async run(): Promise<void> {
    while (this.#workers.length < workerCount) await this.#startWorker()
    while (this.#producers.length < producerCount) await this.#startProducer()
    for (let calamity = 1; calamity <= calamityCount; calamity++) {
      await this.#grown('end', (jobCount / calamityCount) * (calamity - 0.5))
      await this.#strike()
    }
    await this.#grown('acked', jobCount)
    for (const producer of this.#producers.splice(0)) await producer.kill()
    const missing = new Set(this.#log.idsOf('acked'))
    await this.#progressing('every acknowledged job has ended', () => {
      const ended = this.#log.idsOf('end')
      for (const id of missing) if (ended.has(id)) missing.delete(id)
      return { isDone: missing.size === 0, seen: ended.size }
    })
    for (const worker of this.#workers) worker.signal('SIGTERM')
    const endings = await Promise.all(this.#workers.map(({ ended }) => ended))
    expect(endings.map(({ code }) => code)).toEqual(this.#workers.map(() => 0))
  }

  check(): void {
    const marks = this.#log.read()
    const of = (word: string) => marks.filter((mark) => mark.word === word)
    const ended = this.#log.idsOf('end')
    const acked = this.#log.idsOf('acked')
    console.log(`${acked.size} acknowledged, ${ended.size} ended, ${JSON.stringify(this.#happened)}`)
    expect([...acked].filter((id) => !ended.has(id))).toEqual([])
    expect(of('dead')).toEqual([])
    expect(repeatedIds(of('settled'))).toEqual([])
    const excused = new Set(marks.filter((mark) => mark.word === 'lost' || this.#disturbed.has(mark.pid)).map(({ id }) => id))
    expect(repeatedIds(of('end')).filter((id) => !excused.has(id))).toEqual([])
    const leaves = this.#log.idsOf('leaf')
    const kept = marks.filter(({ id }) => !excused.has(id))
    expect(leaves.size).toBeGreaterThan(0)
    const crowded = [...marksByGroup(kept)].filter(([, runs]) => mostAtOnce(runs) > 1).map(([group]) => group)
    expect(crowded).toEqual([])
  }

  /** In turn, so that all of them happen about equally often. */
  async #strike(): Promise<void> {
    const ways = [this.#killWorker, this.#killProducer, this.#stopWorker, ...(this.#crashServer === null ? [] : [this.#crash])]
    const way = ways[this.#turn++ % ways.length] as () => Promise<void>
    await way.call(this)
  }

  async #killWorker(): Promise<void> {
    this.#count('workers killed')
    const worker = this.#workers.shift() as Program
    this.#disturbed.add(worker.pid)
    await worker.kill()
    await this.#startWorker()
  }

  async #killProducer(): Promise<void> {
    this.#count('producers killed')
    await this.#producers.shift()?.kill()
    await this.#startProducer()
  }

  /** For longer than its leases last. It may have been stopped with the lock of a file in hand, so nobody else need go on meanwhile. */
  async #stopWorker(): Promise<void> {
    this.#count('workers stopped')
    const worker = this.#workers.shift() as Program
    this.#disturbed.add(worker.pid)
    worker.signal('SIGSTOP')
    await new Promise((resolve) => setTimeout(resolve, 7_000))
    worker.signal('SIGCONT')
    this.#workers.push(worker)
  }

  async #crash(): Promise<void> {
    this.#count('servers killed')
    await this.#crashServer?.()
  }

  #count(what: string): void {
    this.#happened[what] = (this.#happened[what] ?? 0) + 1
  }

  async #startWorker(): Promise<void> {
    const worker = startProgramFile(program('soak-worker'), { url: this.#url, log: this.#path })
    this.#workers.push(worker)
    await worker.line('working')
  }

  async #startProducer(): Promise<void> {
    const producer = startProgramFile(program('soak-producer'), { url: this.#url, log: this.#path, count: jobCount })
    this.#producers.push(producer)
    await producer.line('producing')
  }

  /** A program that ended without being told to is a finding, and not a standstill. A producer may have dispatched its share. */
  #expectAllRunning(): void {
    for (const program of [...this.#workers, ...this.#producers]) {
      if (program.hasEnded && !program.lines.includes('produced')) throw new Error(`Ended by itself: ${program.describe()}`)
    }
  }

  async #grown(word: string, wanted: number): Promise<void> {
    await this.#progressing(`${wanted} jobs are ${word}`, () => {
      const seen = this.#log.idsOf(word).size
      return { isDone: seen >= wanted, seen }
    })
  }

  /** Gives up when nothing has changed for a long time, however long it takes in all. */
  async #progressing(what: string, look: () => { readonly isDone: boolean; readonly seen: number }): Promise<void> {
    let last = -1
    for (let idle = 0; idle < 600; idle++) {
      const { isDone, seen } = look()
      if (isDone) return
      if (seen !== last) idle = 0
      last = seen
      this.#expectAllRunning()
      await new Promise((resolve) => setTimeout(resolve, 200))
    }
    const said = [...this.#workers, ...this.#producers].map((program) => program.describe()).join('\n')
    throw new Error(`Waited in vain until ${what}; ${last} seen. ${said}`)
  }
}

function program(name: string): string {
  return fileURLToPath(new URL(`./programs/${name}.mjs`, import.meta.url))
}
