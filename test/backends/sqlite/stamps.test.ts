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

  /** One after the other, so that each is sent on its own. */
  async function dispatch(count: number): Promise<Run[]> {
    const sent: Run[] = []
    for (let number = 1; number <= count; number++) sent.push(await greet.dispatch({ number }))
    return sent
  }

  test('is written once, from the second of them on', async () => {
    await dispatch(4)
    expect(stamps()).toEqual([{ stamp: 1, text: expect.stringContaining('"greet"') }])
    expect(rows()).toEqual([
      { identity: expect.stringContaining('"greet"'), stamp: null },
      ...new Array(3).fill({ identity: '', stamp: 1 }),
    ])
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
    const [first, second] = await dispatch(2)
    execute(path, `UPDATE treadle_stamps SET text = replace(text, '"greet"', '"steal"')`)
    await jobs.run()
    expect(seen).toEqual([{ number: 1 }])
    expect(await first!.state()).toBe('succeeded')
    expect(await second!.state()).toBe('dead')
  })

  test('that is gone costs its own jobs, and no others', async () => {
    const [first, second] = await dispatch(2)
    execute(path, 'DELETE FROM treadle_stamps')
    await jobs.run()
    expect(await first!.state()).toBe('succeeded')
    expect(await second!.state()).toBe('dead')
  })
})
