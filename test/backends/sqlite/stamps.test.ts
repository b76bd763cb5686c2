import { type Run, type Treadle, treadle } from 'treadle'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { execute, faultsOf, query, scratchFolder } from '../../processes/database.ts'

describe('what jobs of one kind have in common', () => {
  let folder: ReturnType<typeof scratchFolder>
  let path: string
  let jobs: Treadle
  let greet: ReturnType<typeof defineGreet>
  let seen: unknown[]
  beforeEach(() => {
    folder = scratchFolder()
    path = folder.file('jobs.db')
    open()
  })
  afterEach(async () => {
    await jobs.close()
    folder.remove()
  })

  function open(): void {
    seen = []
    jobs = treadle(`sqlite:${path}`)
    greet = defineGreet()
  }

  function defineGreet() {
    return jobs.define('greet', (payload: object) => void seen.push(payload))
  }

  const stamps = () => query<{ stamp: number; text: string }>(path, 'SELECT stamp, text FROM treadle_stamps')
  const rows = () =>
    query<{ identity: string; stamp: number | null }>(path, 'SELECT identity, stamp FROM treadle_jobs ORDER BY id')

  /** Each connection writes the first that it sends in full. A send that has to wait, on a slow machine, goes by the thread's. */
  const mostOwn = 2

  /** The ends that they have if those without an identity of their own do not run. */
  const statesByStamp = () => rows().map(({ stamp }) => (stamp === null ? 'succeeded' : 'dead'))
  const statesOf = (runs: readonly Run[]) => Promise.all(runs.map((run) => run.state()))

  /** One after the other, so that each is sent on its own. */
  async function dispatch(count: number): Promise<Run[]> {
    const sent: Run[] = []
    for (let number = 1; number <= count; number++) sent.push(await greet.dispatch({ number }))
    return sent
  }

  test('is written once, from the second of them on', async () => {
    await dispatch(4)
    expect(stamps()).toEqual([{ stamp: 1, text: expect.stringContaining('"greet"') }])
    const own = rows().filter(({ stamp }) => stamp === null)
    expect(own).toEqual(own.map(() => ({ identity: expect.stringContaining('"greet"'), stamp: null })))
    expect([1, mostOwn]).toContain(own.length)
    const others = rows().filter(({ stamp }) => stamp !== null)
    expect(others).toEqual(new Array(4 - own.length).fill({ identity: '', stamp: 1 }))
    expect(faultsOf(path)).toEqual([])
  })

  test('is known to every program on the file', async () => {
    await dispatch(3)
    await jobs.close()
    open()
    const records = await (await jobs.store()).list({ limit: 10 })
    expect(records.map(({ name, maxRetries }) => [name, maxRetries])).toEqual(new Array(3).fill(['greet', 0]))
    await jobs.run()
    expect(seen).toEqual([{ number: 1 }, { number: 2 }, { number: 3 }])
  })

  test('is not kept where every job has something of its own', async () => {
    for (const key of ['a', 'b', 'b', 'b']) await greet.dispatch({}, { idempotencyKey: key })
    for (const user of [7, 7, 7]) await greet.dispatch({}, { meta: { user } })
    expect(stamps()).toEqual([])
    expect(rows().map(({ identity }) => JSON.parse(identity)[9])).toEqual(['a', 'b', 'b', 'b', null, null, null])
  })

  test('leaves a job alone that was changed', async () => {
    const latest = jobs.define('latest', async () => {}).unique(() => 'one', { onConflict: 'replace' })
    for (const priority of [5, 5, 9]) await latest.dispatch({}, { priority })
    expect(rows()).toEqual([{ identity: expect.stringContaining('"default",9,'), stamp: null }])
    expect(faultsOf(path)).toEqual([])
  })

  test('cannot be changed behind the signature: such jobs do not run', async () => {
    const sent = await dispatch(mostOwn + 1)
    const expected = statesByStamp()
    execute(path, `UPDATE treadle_stamps SET text = replace(text, '"greet"', '"steal"')`)
    await jobs.run()
    expect(seen).toEqual(
      Array.from(
        expected.filter((state) => state === 'succeeded'),
        (_, index) => ({ number: index + 1 }),
      ),
    )
    expect(await statesOf(sent)).toEqual(expected)
    expect(expected).toContain('dead')
  })

  test('that is gone costs its own jobs, and no others', async () => {
    const sent = await dispatch(mostOwn + 1)
    const expected = statesByStamp()
    execute(path, 'DELETE FROM treadle_stamps')
    await jobs.run()
    expect(await statesOf(sent)).toEqual(expected)
    expect(expected).toContain('dead')
  })
})
