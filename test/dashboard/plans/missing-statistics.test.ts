import { expect, onTestFinished, test } from 'vitest'
import { treadle } from '../../../dist/index.js'
import { dashboard } from '../../../dist/server/dashboard/index.js'
import { times } from '../../../src/testing/conformance/bench.ts'
import { opened } from './recorded-queues.ts'

/** So many that a plan which reads all of them is told from one which does not. */
const many = 12_000

test.each(['workflows', 'jobs?q=tag:seldom'])(
  '%s reads no more than it shows where the statistics are older than the first workflow and the first tag',
  async (page) => {
    const queue = await opened.sqlite()
    const jobs = treadle({ backend: queue.backend, signingKey: 'a-key-for-the-test-of-the-query-plans' })
    const shown = dashboard(jobs, { authorize: () => ({ role: 'read' }) })
    onTestFinished(async () => {
      await shown.close()
      await jobs.close()
      await queue[Symbol.asyncDispose]()
    })
    await jobs.dispatchMany(
      jobs.declare('later'),
      times(many, (n) => n),
      { delay: '1h' },
    )
    await queue.analyze()
    await jobs.chain([jobs.declare('first').step({}), jobs.declare('second').step({})])
    await jobs.dispatch(jobs.declare('rare'), {}, { tags: ['seldom'] })
    queue.taken()
    const answer = await shown.fetch(new Request(`http://localhost/-/${page}`, { headers: { 'sec-fetch-site': 'same-origin' } }))
    expect(answer.status).toBe(200)
    const asked = queue.taken()
    expect(asked).not.toEqual([])
    for (const each of asked) expect(await queue.faultsOf(each), each.sql).toEqual([])
  },
)
