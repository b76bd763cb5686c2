import { existsSync, readFileSync } from 'node:fs'
import { treadle } from 'treadle'
import { afterEach, expect, onTestFinished, test } from 'vitest'
import { faultsOf, query, scratchFolder } from './database.ts'
import { endPrograms, eventually, startProgram } from './program.ts'

afterEach(endPrograms)

test.each(['member 100', 'link 10', 'member of parent 5'])(
  'a worker is killed in the middle of a batch, a chain and a parent with children (in %s): another one finishes all of it once',
  async (hangAt) => {
    const folder = scratchFolder()
    onTestFinished(() => folder.remove())
    const path = folder.file('jobs.db')
    const log = folder.file(`${hangAt}.log`)
    const victim = startProgram('workflow-worker', { path, log, hangAt, send: true })
    const [, ...roots] = (await victim.line('sent')).split(' ')
    await victim.line('hanging')
    await victim.kill()
    const done = existsSync(log) ? readFileSync(log, 'utf8').trimEnd().split('\n') : []

    const survivor = startProgram('workflow-worker', { path, log })
    const jobs = treadle(`sqlite:${path}`)
    try {
      const store = await jobs.store()
      await eventually('every workflow has ended', async () => {
        const trees = await Promise.all(roots.map((root) => store.tree(root)))
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
    for (const once of ['callback success', 'callback complete', 'parent 10']) {
      expect(lines.filter((line) => line === once)).toHaveLength(1)
    }
    const links = lines.filter((line) => line.startsWith('link ')).map((line) => Number(line.slice(5)))
    expect(links).toEqual([...links].sort((a, b) => a - b))
    expect(faultsOf(path)).toEqual([])
    expect(query(path, 'SELECT * FROM treadle_edges WHERE outcome IS NULL')).toEqual([])
  },
)
