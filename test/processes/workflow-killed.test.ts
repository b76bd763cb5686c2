import { existsSync, readFileSync } from 'node:fs'
import { treadle } from 'treadle'
import { afterEach, expect, onTestFinished, test } from 'vitest'
import { treeCounts } from '../../src/queue/contract/queue-counts.ts'
import { SqlGround } from '../backends/sql-ground.ts'
import type { SqlEngine } from '../services.ts'
import { faultsOf, query, scratchFolder } from './database.ts'
import { endPrograms, eventually, startProgram } from './program.ts'

afterEach(endPrograms)

interface Place {
  readonly url: string
  faults(): Promise<readonly string[]> | readonly string[]
  stop(): Promise<void> | void
}

function file(): Place {
  const folder = scratchFolder()
  const path = folder.file('jobs.db')
  const isUntold = 'SELECT target FROM treadle_edges WHERE outcome IS NULL'
  return {
    url: `sqlite:${path}`,
    faults: () => [...faultsOf(path), ...query<{ target_id: string }>(path, isUntold).map(({ target_id }) => target_id)],
    stop: () => folder.remove(),
  }
}

async function server(engine: SqlEngine): Promise<Place> {
  const ground = new SqlGround(engine)
  await ground.start()
  const isUntold = 'SELECT target FROM {edges} WHERE outcome IS NULL'
  return {
    url: ground.url,
    faults: async () => [
      ...(await ground.faults()),
      ...(await ground.query<{ target: string }>(isUntold)).map(({ target }) => target),
    ],
    stop: () => ground.stop(),
  }
}

const places = ['sqlite', 'postgres', 'mariadb'] as const
const hangs = ['member 100', 'link 10', 'member of parent 5']

test.each(places.flatMap((place) => hangs.map((hangAt) => [place, hangAt] as const)))(
  'on %s a worker is killed in the middle of a batch, a chain and a parent with children (in %s): another one finishes all of it once',
  async (engine, hangAt) => {
    const place = engine === 'sqlite' ? file() : await server(engine)
    const { url } = place
    const folder = scratchFolder()
    onTestFinished(async () => {
      await endPrograms()
      folder.remove()
      await place.stop()
    })
    const log = folder.file(`${hangAt}.log`)
    const victim = startProgram('workflow-worker', { url, log, hangAt, send: true })
    const [, ...roots] = (await victim.line('sent')).split(' ')
    await victim.line('hanging')
    await victim.kill()
    const done = existsSync(log) ? readFileSync(log, 'utf8').trimEnd().split('\n') : []

    const survivor = startProgram('workflow-worker', { url, log })
    const jobs = treadle(url, { signingKey: 'a key for tests, of 32 characters' })
    try {
      const store = await jobs.store()
      await eventually('every workflow has ended', async () => {
        const trees = await Promise.all(roots.map((root) => treeCounts(store, root)))
        return trees.every(({ total, counts }) => counts.succeeded + counts.skipped === total)
      })
    } finally {
      await jobs.close()
    }
    survivor.signal('SIGTERM')
    await survivor.success()

    const lines = readFileSync(log, 'utf8').trimEnd().split('\n')
    const expected = [
      ...Array.from({ length: 200 }, (_, n) => `member ${n}`),
      ...Array.from({ length: 10 }, (_, n) => `member of parent ${n}`),
      ...Array.from({ length: 20 }, (_, n) => `link ${n}`),
    ]
    expect(new Set(lines)).toEqual(new Set([...expected, 'parent 10', 'callback success', 'callback complete']))
    // What the victim had done and not yet told is done again: at most what it held.
    const again = lines.filter((line, index) => lines.indexOf(line) !== index)
    expect(again.every((line) => done.includes(line))).toBe(true)
    const links = lines.filter((line) => line.startsWith('link ')).map((line) => Number(line.slice(5)))
    expect(links).toEqual([...links].sort((a, b) => a - b))
    expect(await place.faults()).toEqual([])
  },
)
