import assert from 'node:assert/strict'
import { appendsBetweenTrims, type EventChunk, keptEventChunks } from '../../../queue/contract/stores/event-store.ts'
import type { Bench } from '../bench.ts'
import { oddName } from '../claiming/sending.ts'
import type { Group } from '../suite.ts'

const ttlMs = 15_000

export const events: Group = {
  title: 'events for other processes',
  needs: ['store', 'events'],
  tests: {
    'the wishes of listeners are known until they expire': async (bench) => {
      assert.deepEqual(await bench.events.wanted(), [])
      await listen(bench, 'one')
      await bench.clock.advance(ttlMs / 2)
      await bench.events.listen({ id: 'two', wants: `["${oddName}"]` }, ttlMs)
      assert.deepEqual((await bench.events.wanted()).toSorted(), [`["${oddName}"]`, 'all of one'].toSorted())
      await bench.clock.advance(ttlMs / 2)
      assert.deepEqual(await bench.events.wanted(), [`["${oddName}"]`])
    },
    'a listener that registers again is still one listener, and the last registration counts': async (bench) => {
      await listen(bench, 'one')
      await bench.clock.advance(ttlMs - 1)
      await bench.events.listen({ id: 'one', wants: 'less' }, ttlMs)
      await bench.clock.advance(ttlMs - 1)
      assert.deepEqual(await bench.events.wanted(), ['less'])
    },
    'events are numbered consecutively, including dropped ones': async (bench) => {
      const { last } = await listen(bench, 'one')
      await bench.events.append([chunk('a', 2), chunk('b', 1, 7)])
      await bench.events.append([chunk('', 0, 3)])
      await bench.events.append([chunk('c', 1)])
      assert.deepEqual(await bench.events.read(last, 0), [])
      assert.deepEqual(await bench.events.read(last, 10), [
        { first: last + 1, last: last + 2, text: 'a' },
        { first: last + 10, last: last + 10, text: 'b' },
        { first: last + 14, last: last + 13, text: '' },
        { first: last + 14, last: last + 14, text: 'c' },
      ])
      assert.deepEqual(await texts(bench, last + 1), ['a', 'b', '', 'c'])
      assert.deepEqual(await texts(bench, last + 2, 1), ['b'])
      assert.deepEqual(await texts(bench, last + 14), [])
    },
    'a later listener continues after what is there': async (bench) => {
      const first = await listen(bench, 'one')
      await bench.events.append([chunk('a', 4)])
      const second = await listen(bench, 'two')
      assert.deepEqual(second, { epoch: first.epoch, last: first.last + 4 })
      assert.deepEqual(await texts(bench, first.last), ['a'])
    },
    'the history is deleted with the last listener, and the next one starts a new epoch': async (bench) => {
      const first = await listen(bench, 'one')
      await listen(bench, 'two')
      await bench.events.append([chunk('a')])
      await bench.events.leave('one')
      assert.deepEqual(await texts(bench, 0), ['a'])
      await bench.events.leave('two')
      assert.deepEqual([await bench.events.wanted(), await texts(bench, 0)], [[], []])
      const next = await listen(bench, 'one')
      assert.equal(next.epoch, first.epoch + 1)
      assert.equal(next.last, first.last + 1)
    },
    'a period without listeners starts a new epoch too': async (bench) => {
      const first = await listen(bench, 'one')
      await bench.events.append([chunk('a')])
      await bench.clock.advance(ttlMs)
      const next = await listen(bench, 'one')
      assert.equal(next.epoch, first.epoch + 1)
      assert.deepEqual(await texts(bench, 0), [])
    },
    'any text of an event is returned unchanged': async (bench) => {
      const { last } = await listen(bench, 'one')
      const text = `["\\u0000 \u{1f600} \u0001 \\ ' " é\n|"]${'x'.repeat(70_000)}`
      await bench.events.append([chunk(text)])
      assert.deepEqual(await texts(bench, last), [text])
    },
    'a reader misses no event of programs that write at the same time': async (bench) => {
      const { last } = await listen(bench, 'one')
      const writing = Promise.all(Array.from({ length: 20 }, (_, n) => bench.events.append([chunk(`${n}`)])))
      const seen: string[] = []
      let after = last
      for (let looks = 0; looks < 10_000 && seen.length < 20; looks++) {
        for (const stored of await bench.events.read(after, 3)) {
          assert.equal(stored.first, after + 1)
          after = stored.last
          seen.push(stored.text)
        }
      }
      await writing
      assert.deepEqual(seen.toSorted(), Array.from({ length: 20 }, (_, n) => `${n}`).toSorted())
    },
    'only the newest chunks are kept': async (bench) => {
      const { last } = await listen(bench, 'one')
      const many = Array.from({ length: keptEventChunks * 2 }, () => chunk('x'))
      for (let n = 0; n <= appendsBetweenTrims; n++) await bench.events.append(n === 0 ? many : [chunk('y')])
      const kept = await bench.events.read(last, keptEventChunks * 4)
      assert.ok(kept.length <= keptEventChunks + 2 * appendsBetweenTrims + 100, `${kept.length} are kept`)
      assert.equal(kept.at(-1)?.last, last + many.length + appendsBetweenTrims)
    },
  },
}

function listen(bench: Bench, id: string) {
  return bench.events.listen({ id, wants: `all of ${id}` }, ttlMs)
}

function chunk(text: string, events = 1, dropped = 0): EventChunk {
  return { events, dropped, text }
}

async function texts(bench: Bench, after: number, limit = 100): Promise<readonly string[]> {
  return (await bench.events.read(after, limit)).map(({ text }) => text)
}
