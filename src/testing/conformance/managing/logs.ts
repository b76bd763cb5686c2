import assert from 'node:assert/strict'
import type { Lease } from '../../../queue/contract/contract.ts'
import type { LogChunk } from '../../../queue/contract/stores/log-store.ts'
import type { Bench } from '../bench.ts'
import type { Group } from '../suite.ts'

const bounds = { lines: 1_000, bytes: 100_000 }

export const logs: Group = {
  title: 'job logs',
  needs: ['store', 'logs'],
  tests: {
    'lines are numbered across all attempts of a job, separately for each job': async (bench) => {
      const [one, other] = (await bench.send({}, {})) as [string, string]
      await bench.logs.append([chunk(one, 'first', 2), chunk(other, 'its own')], bounds)
      await bench.logs.append([chunk(one, 'second', 1, { attempt: 2 }), chunk(one, 'third', 3, { attempt: 2 })], bounds)
      assert.deepEqual(await bench.logs.read(one, 0, 100), [
        { attempt: 1, first: 1, last: 2, text: 'first' },
        { attempt: 2, first: 3, last: 3, text: 'second' },
        { attempt: 2, first: 4, last: 6, text: 'third' },
      ])
      assert.deepEqual(await texts(bench, other), ['its own'])
    },
    'lines after a given number can be read': async (bench) => {
      const id = await bench.sendOne()
      await bench.logs.append([chunk(id, 'a', 2), chunk(id, 'b', 2), chunk(id, 'c')], bounds)
      assert.deepEqual(await texts(bench, id, 2), ['b', 'c'])
      assert.deepEqual(await texts(bench, id, 3), ['b', 'c'])
      assert.deepEqual(await texts(bench, id, 5), [])
      assert.deepEqual(await texts(bench, id, 0, 1), ['a'])
    },
    'lines that were dropped before storing leave a gap in the numbers': async (bench) => {
      const id = await bench.sendOne()
      await bench.logs.append([chunk(id, 'a'), chunk(id, 'b', 1, { dropped: 7 })], bounds)
      assert.deepEqual(
        (await bench.logs.read(id, 0, 9)).map(({ first }) => first),
        [1, 9],
      )
    },
    'the oldest lines are dropped if there are too many lines or bytes': async (bench) => {
      const [lines, bytes] = (await bench.send({}, {})) as [string, string]
      for (let n = 1; n <= 5; n++) await bench.logs.append([chunk(lines, `${n}`, 2)], { lines: 6, bytes: 1_000 })
      assert.deepEqual(await texts(bench, lines), ['3', '4', '5'])
      assert.equal((await bench.logs.read(lines, 0, 1))[0]?.first, 5)
      for (let n = 1; n <= 5; n++) await bench.logs.append([chunk(bytes, `é${n}`)], { lines: 100, bytes: 6 })
      assert.deepEqual(await texts(bench, bytes), ['é4', 'é5'])
    },
    'any text is returned unchanged': async (bench) => {
      const id = await bench.sendOne()
      const text = `["\\u0000 \u{1f600} \u0001 \\ ' " é\n"]${'x'.repeat(70_000)}`
      await bench.logs.append([chunk(id, text)], { lines: 10, bytes: 1_000_000 })
      assert.deepEqual(await texts(bench, id), [text])
    },
    'lines of an ended job are still stored, and those of a missing job are not': async (bench) => {
      const id = await bench.sendOne()
      await bench.settle(bench.done(await bench.claimOne(), { keep: true }))
      const nobody = bench.newId()
      await bench.logs.append([chunk(id, 'last words'), chunk(nobody, 'lost'), chunk('no id', 'lost')], bounds)
      assert.deepEqual(await texts(bench, id), ['last words'])
      assert.deepEqual(await texts(bench, nobody), [])
      assert.deepEqual(await texts(bench, 'no id'), [])
    },
    'lines are deleted with their job, however that happens': async (bench) => {
      const [kept, removed] = (await bench.send({}, {})) as [string, string]
      const [one, other] = await bench.claim()
      await bench.logs.append([chunk(kept, 'a'), chunk(removed, 'b')], bounds)
      await bench.settle(bench.done(one as Lease, { keep: true }), bench.done(other as Lease, { keep: false }))
      assert.deepEqual([await texts(bench, kept), await texts(bench, removed)], [['a'], []])
      await bench.store.remove({ state: 'succeeded', limit: 9 })
      await bench.sendOne({ id: kept })
      assert.deepEqual(await texts(bench, kept), [])
    },
    'lines survive a retry of their job and a sweep': async (bench) => {
      const id = await bench.sendOne()
      await bench.settle(bench.dead(await bench.claimOne()))
      await bench.logs.append([chunk(id, 'why')], bounds)
      await bench.store.retry([id])
      await bench.store.sweep({ part: 'logs', limit: 100 })
      assert.deepEqual(await texts(bench, id), ['why'])
    },
  },
}

function chunk(id: string, text: string, lines = 1, more: Partial<LogChunk> = {}): LogChunk {
  return { id, attempt: 1, lines, dropped: 0, text, ...more }
}

async function texts({ logs: store }: Bench, id: string, after = 0, limit = 100): Promise<readonly string[]> {
  return (await store.read(id, after, limit)).map(({ text }) => text)
}
