import assert from 'node:assert/strict'
import { times } from '../bench.ts'
import type { Group } from '../suite.ts'

export const numbers: Group = {
  title: 'numbers of jobs',
  needs: ['store'],
  tests: {
    'numbers are reserved in a row, from 1 on, and none is given twice': async (bench) => {
      const { numbers } = bench
      assert.equal(await numbers.reserve(3), 1)
      const next = await numbers.reserve(1)
      assert.ok(next >= 4)
      assert.ok((await numbers.reserve(10)) > next)
    },
    'simultaneous reservations get different numbers': async (bench) => {
      const firsts = await Promise.all(times(20, (index) => bench.numbers.reserve(index + 1)))
      const given = firsts.flatMap((first, index) => times(index + 1, (place) => first + place))
      assert.equal(new Set(given).size, given.length)
    },
    'a job has its number in its record and in its lease, and is found by it': async (bench) => {
      const number = await bench.numbers.reserve(2)
      const [first, second, third] = (await bench.send({ number: number + 1 }, {}, { number })) as [string, string, string]
      assert.deepEqual(
        [(await bench.record(first)).number, (await bench.record(second)).number, (await bench.record(third)).number],
        [number + 1, null, number],
      )
      const leases = await bench.claim()
      assert.deepEqual(
        leases.map(({ envelope }) => envelope.number),
        [number + 1, null, number],
      )
      assert.deepEqual(await bench.numbers.find([number, 4_711, number + 1]), [third, null, first])
      assert.deepEqual(await bench.numbers.find([]), [])
    },
    'a job keeps its number through retries and its end, until it is deleted': async (bench) => {
      const { numbers } = bench
      const number = await numbers.reserve(1)
      const id = await bench.sendOne({ number })
      await bench.settle(bench.retry(await bench.claimOne()))
      await bench.settle(bench.dead(await bench.claimOne()))
      assert.deepEqual(await numbers.find([number]), [id])
      await bench.store.retry([id])
      await bench.store.amend([{ id, expected: null, envelope: bench.envelope({ id, number: null, queue: 'mail' }) }])
      const lease = await bench.claimOne()
      assert.equal(lease.envelope.number, number)
      await bench.settle(bench.done(lease))
      assert.deepEqual(await numbers.find([number]), [null])
    },
    'a job whose number is taken refers to the job that has it': async (bench) => {
      const number = await bench.numbers.reserve(2)
      const holder = await bench.sendOne({ number })
      const others = times(60, (index) => bench.envelope(index === 30 ? { number } : {}))
      const receipts = await bench.backend.send([...others, bench.envelope({ number: number + 1 })])
      assert.deepEqual(receipts[30], { id: holder, stored: false })
      assert.equal(receipts.filter(({ stored }) => stored).length, 60)
      assert.deepEqual(await bench.numbers.find([number, number + 1]), [holder, receipts[60]?.id])
    },
    'jobs without a number get one, others keep theirs': async (bench) => {
      const { numbers } = bench
      const number = await numbers.reserve(1)
      const [plain, numbered, late] = (await bench.send({}, { number }, { delayMs: 1_000 })) as [string, string, string]
      const given = await numbers.assign([plain, 'nothing', numbered, bench.newId(), plain])
      assert.deepEqual([given[1], given[2], given[3], given[4]], [null, number, null, given[0]])
      assert.ok((given[0] as number) > number)
      assert.deepEqual(await numbers.assign([plain]), [given[0]])
      assert.equal((await bench.record(plain)).number, given[0])
      assert.equal((await bench.record(late)).number, null)
      assert.deepEqual(await numbers.find(given as number[]), [plain, null, numbered, null, plain])
      assert.ok((await numbers.reserve(1)) > (given[0] as number))
    },
    'older jobs get lower numbers, in whatever order they are asked for': async (bench) => {
      const ids = await bench.send(...times(3, () => ({})))
      const given = (await bench.numbers.assign([...ids, 'nothing'].reverse())) as number[]
      assert.deepEqual(given, [null, ...given.slice(1).toSorted((a, b) => b - a)])
    },
    'simultaneous assignments of numbers to the same jobs agree': async (bench) => {
      const ids = await bench.send(...times(50, () => ({})))
      const answers = await Promise.all(times(5, (index) => bench.numbers.assign(index % 2 === 0 ? ids : [...ids].reverse())))
      const [first] = answers
      answers.forEach((given, index) => {
        assert.deepEqual(index % 2 === 0 ? given : [...given].reverse(), first)
      })
      assert.equal(new Set(first).size, ids.length)
      assert.deepEqual(await bench.numbers.find(first as number[]), ids)
    },
    'a running job that gets a number ends like any other': async (bench) => {
      const id = await bench.sendOne()
      const lease = await bench.claimOne()
      const [number] = await bench.numbers.assign([id])
      await bench.settle(bench.done(lease, { keep: true }))
      const record = await bench.record(id)
      assert.deepEqual([record.state, record.number], ['succeeded', number])
    },
  },
}
