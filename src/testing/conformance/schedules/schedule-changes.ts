import assert from 'node:assert/strict'
import type { ScheduleChanges, ScheduleEntry } from '../../../queue/contract/schedule-store.ts'
import type { Bench } from '../bench.ts'
import { revisionOf } from '../bench.ts'
import { oddName } from '../claiming/sending.ts'
import type { Group } from '../suite.ts'
import { entry, minute, occurrence, scheduled, standing } from './schedules.ts'

const definition = { text: '["schedule",1]\n{"to":"ada"}', signature: 'key.signature' }

function stored(name: string, version = 'v1', text = definition.text): ScheduleEntry {
  return { ...entry('* * * * *', 'UTC', name, version), definition: { ...definition, text } }
}

async function changesAfter({ store }: Bench, since: number): Promise<ScheduleChanges> {
  return store.schedules.changes(since, 100)
}

function namesOf({ changed }: ScheduleChanges): readonly string[] {
  return changed.map(({ name, entry }) => (entry === null ? `${name} removed` : name))
}

export const scheduleChanges: Group = {
  title: 'what has changed among schedules',
  needs: ['store'],
  tests: {
    'a stored schedule is returned unchanged, and a schedule of the code has none of its fields': async (bench) => {
      const { schedules } = bench.store
      await schedules.register([stored('made'), entry()])
      const listed = await schedules.list()
      assert.deepEqual(
        listed.map((record) => [record.name, record.definition]),
        [
          ['digest', null],
          ['made', definition],
        ],
      )
      const { changed } = await changesAfter(bench, 0)
      const entries = new Map(changed.map(({ name, entry }) => [name, entry]))
      assert.deepEqual(entries.get('made'), stored('made'))
      assert.deepEqual(entries.get('digest'), { ...entry(), definition: null })
    },
    'another text or signature is a change, the same ones are not': async (bench) => {
      const { schedules } = bench.store
      await schedules.register([stored('made')])
      const { revision } = await changesAfter(bench, 0)
      await schedules.register([stored('made')])
      assert.equal(await revisionOf(schedules), revision)
      await schedules.register([stored('made', 'v1', 'another text')])
      await schedules.register([
        { ...stored('made', 'v1', 'another text'), definition: { text: 'another text', signature: null } },
      ])
      const { changed } = await changesAfter(bench, revision)
      assert.deepEqual(
        changed.map((change) => change.entry?.definition),
        [{ text: 'another text', signature: null }],
      )
    },
    'only changes after a revision are returned, each schedule once, oldest first': async (bench) => {
      const { schedules } = bench.store
      await schedules.register(['a', 'b', 'c'].map((name) => stored(name)))
      const before = await changesAfter(bench, 0)
      assert.deepEqual([...namesOf(before)].sort(), ['a', 'b', 'c'])
      assert.deepEqual(namesOf(await changesAfter(bench, before.revision)), [])
      await schedules.register([stored('c', 'v2')])
      await schedules.change('a', 'pause')
      await schedules.register([stored(oddName)])
      await schedules.change('a', 'resume')
      const after = await changesAfter(bench, before.revision)
      assert.deepEqual(namesOf(after), ['c', oddName, 'a'])
      assert.equal(after.revision, await revisionOf(schedules))
      assert.equal(after.hasMore, false)
    },
    'a removed schedule is reported until its removal is forgotten, and one made again is listed': async (bench) => {
      const { schedules } = bench.store
      await schedules.register([stored('a'), stored('b'), stored('c')])
      const { revision } = await changesAfter(bench, 0)
      await schedules.change('a', 'remove')
      await schedules.change('b', 'remove')
      assert.deepEqual(namesOf(await changesAfter(bench, revision)), ['a removed', 'b removed'])
      await schedules.register([stored('a', 'v2')])
      assert.deepEqual(namesOf(await changesAfter(bench, revision)), ['b removed', 'a'])
      await bench.clock.advance(minute)
      await bench.store.sweep({ part: 'occurrences', before: bench.clock.now(), limit: 100 })
      assert.deepEqual(namesOf(await changesAfter(bench, revision)), ['a'])
    },
    'many changes are returned in parts, without omissions': async (bench) => {
      const { schedules } = bench.store
      await schedules.register(Array.from({ length: 7 }, (_, index) => stored(`s${index}`)))
      await schedules.change('s3', 'remove')
      const seen: string[] = []
      for (let since = 0, hasMore = true; hasMore; ) {
        const part = await schedules.changes(since, 3)
        assert.ok(part.changed.length <= 3)
        assert.ok(part.revision > since)
        seen.push(...namesOf(part))
        since = part.revision
        hasMore = part.hasMore
      }
      assert.deepEqual(seen, ['s0', 's1', 's2', 's4', 's5', 's6', 's3 removed'])
    },
    'storing occurrences does not change a schedule': async (bench) => {
      await scheduled(bench, 1)
      const { revision } = await changesAfter(bench, 0)
      await bench.store.schedules.enqueue([occurrence(bench, bench.clock.now() + 2 * minute)])
      assert.equal(await revisionOf(bench.store.schedules), revision)
    },
    'an occurrence that requires its schedule is not stored if that is not registered': async (bench) => {
      const { schedules } = bench.store
      const at = bench.clock.now()
      const needing = (minutes: number) => ({ ...occurrence(bench, at + minutes * minute, 'made'), registered: true as const })
      assert.deepEqual(await schedules.enqueue([needing(1)]), [false])
      await schedules.register([stored('made')])
      assert.deepEqual(await schedules.enqueue([{ ...needing(1), version: 'v1' }]), [true])
      assert.deepEqual(await schedules.enqueue([{ ...needing(2), version: 'v2' }]), [false])
      await schedules.change('made', 'remove')
      assert.deepEqual(await schedules.enqueue([needing(3)]), [false])
    },
    'schedules are listed by name or name prefix, ordered by name': async (bench) => {
      const { schedules } = bench.store
      const names = ['acme/b', 'acme/a', 'acme%', 'acmf', `acme/${oddName}`, 'Acme/a']
      await schedules.register(names.map((name) => stored(name)))
      const listed = async (...filter: Parameters<typeof schedules.list>) =>
        (await schedules.list(...filter)).map(({ name }) => name)
      assert.deepEqual([...(await listed())].sort(), [...names].sort())
      assert.deepEqual([...(await listed({ prefix: 'acme/' }))].sort(), ['acme/a', 'acme/b', `acme/${oddName}`].sort())
      const byCodePoint = ['tenant/Z', 'tenant/a', 'tenant/ä', 'tenant/\uff00', 'tenant/\u{1f600}']
      await schedules.register(byCodePoint.toReversed().map((name) => stored(name)))
      assert.deepEqual(await listed({ prefix: 'tenant/' }), byCodePoint)
      assert.deepEqual(await listed({ prefix: 'acme%' }), ['acme%'])
      assert.deepEqual(await listed({ names: ['acmf', 'acme/a', 'nobody'] }), ['acme/a', 'acmf'])
      assert.deepEqual(await listed({ names: ['acmf', 'acme/a'], prefix: 'acme/' }), ['acme/a'])
      assert.deepEqual(await listed({ names: [] }), [])
    },
    'a new payload keeps the instants and withdraws waiting runs, a new expression counts from now': async (bench) => {
      const { schedules } = bench.store
      await schedules.register([stored('made')])
      const { since } = await standing(bench, 'made')
      await bench.clock.advance(minute)
      const [waiting] = [occurrence(bench, bench.clock.now() + minute, 'made')]
      await schedules.enqueue([waiting])
      await schedules.register([stored('made', 'v2', 'another text')])
      assert.equal((await standing(bench, 'made')).since, since)
      assert.equal(await bench.store.get(waiting.envelope.id), null)
      await schedules.register([{ ...stored('made', 'v3'), expression: '0 0 * * *' }])
      assert.equal((await standing(bench, 'made')).since, bench.clock.now())
    },
  },
}
