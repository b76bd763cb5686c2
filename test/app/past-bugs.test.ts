import { describe, expect, test } from 'vitest'
import { openMemory } from '../../src/engines/memory/index.ts'
import type { WholeBackend } from '../../src/queue/contract/contract.ts'
import type { ScheduleStore } from '../../src/queue/contract/schedule-store.ts'
import { ManualClock } from '../../src/testing/manual-clock.ts'
import { aborted, gate, until, world, worldOn } from '../world.ts'

const minute = 60_000

/** What went wrong once in schedulers of this kind must not go wrong here. */
describe('Y22', () => {
  test('the lock is taken in one step: of ten schedulers at once, one runs', async () => {
    const { jobs, other } = world()
    const programs = [jobs, ...Array.from({ length: 9 }, () => other().jobs)]
    const running = gate()
    const release = gate()
    for (const program of programs) {
      program
        .define('tick', async () => {
          running.open()
          await release.opened
        })
        .everyMinute()
    }
    const passes = programs.map((program) => program.run({ scheduler: 'single' }).catch((error: { code: string }) => error.code))
    await running.opened
    release.open()
    const answers = await Promise.all(passes)
    expect(answers.filter((answer) => answer === 'SCHEDULER_LOCKED')).toHaveLength(9)
  })

  test('a run whose schedule is gone when it ends is no error', async () => {
    const { jobs, clock, backend, happened } = world()
    const started = gate()
    const end = gate()
    jobs
      .define('tick', async () => {
        started.open()
        await end.opened
      })
      .everyMinute()
    const working = jobs.work({ signals: false })
    await started.opened
    await backend.store.schedules.change('tick', 'remove')
    end.open()
    await until(() => happened.some(({ name }) => name === 'job:succeeded'))
    await jobs.stop()
    await working
    await clock.advance(0)
    expect(happened.filter(({ name }) => name === 'worker:error')).toEqual([])
  })

  test('a lock whose time is over during a long pass costs no run and doubles none', async () => {
    const clock = new ManualClock()
    const { backend, stall } = stalling(openMemory({ clock }))
    const slow = worldOn(backend, clock)
    const quick = slow.other()
    const seen: number[] = []
    for (const { jobs } of [slow, quick]) {
      jobs
        .define('tick', (_, ctx) => void seen.push(ctx.occurrence?.getTime() ?? 0))
        .everyMinute()
        .misfire('all')
    }
    stall.next = true
    const both = [slow, quick].map(({ jobs }) => jobs.work({ signals: false, scheduler: 'single' }))
    await clock.advance(5 * minute)
    stall.release()
    await clock.advance(5 * minute)
    await Promise.all([slow, quick].map(({ jobs }) => jobs.stop()))
    await Promise.all(both)
    const runs = [...seen].sort((a, b) => a - b)
    expect(new Set(runs).size).toBe(runs.length)
    expect(runs.slice(1).every((at, index) => at - (runs[index] as number) === minute)).toBe(true)
    expect(runs.length).toBeGreaterThanOrEqual(9)
  })

  test('a run over its time is stopped, and the schedule goes on when it is really over', async () => {
    const { jobs, clock } = world()
    let runs = 0
    jobs
      .define('slow', async (_, ctx) => {
        runs++
        if (runs === 1) await aborted(ctx.signal)
      })
      .everyMinute()
      .maxRunningTime('90s')
    const working = jobs.work({ signals: false })
    await clock.advance(10 * minute)
    await jobs.stop()
    await working
    expect(runs).toBeGreaterThanOrEqual(7)
  })

  test('a database that fails for a while ends neither the scheduler nor the worker', async () => {
    const clock = new ManualClock()
    const { backend, fail } = stalling(openMemory({ clock }))
    const { jobs, happened } = worldOn(backend, clock)
    let runs = 0
    jobs.define('tick', () => void runs++).everyMinute()
    const working = jobs.work({ signals: false })
    await clock.advance(2 * minute)
    fail.now = true
    await clock.advance(5 * minute)
    const before = runs
    fail.now = false
    await clock.advance(5 * minute)
    await jobs.stop()
    await working
    expect(happened.some(({ name }) => name === 'worker:error')).toBe(true)
    expect(runs).toBeGreaterThanOrEqual(before + 4)
  })

  test("another's lock is never given back", async () => {
    const { jobs, clock, other, backend } = world()
    const second = other()
    for (const program of [jobs, second.jobs]) program.define('tick', () => null).everyMinute()
    const holder = { owner: 'elsewhere', host: 'web-2', pid: 7 }
    const working = jobs.work({ signals: false, scheduler: 'single' })
    await clock.advance(1_000)
    await backend.coordination.unlock('scheduler', 'not its owner')
    expect(await backend.coordination.lock('scheduler', holder, minute)).toMatchObject({ held: false })
    await jobs.stop()
    await working
    expect(await backend.coordination.lock('scheduler', holder, minute)).toEqual({ held: true })
    await expect(second.jobs.run({ scheduler: 'single' })).rejects.toMatchObject({ message: expect.stringContaining('web-2') })
    expect(await backend.coordination.lock('scheduler', holder, minute)).toEqual({ held: true })
  })

  test('the job of an occurrence is known from the moment it is stored', async () => {
    const { jobs, backend } = world()
    jobs.define('nightly', () => null).daily()
    const [standing] = await jobs.run().then(() => backend.store.schedules.standings())
    expect((await backend.store.get(standing?.latest?.jobId ?? ''))?.schedule).toBe('nightly')
  })

  test('what failed is in the report of a pass and is told', async () => {
    const { jobs, happened } = world()
    jobs
      .define('broken', () => {
        throw new Error('no')
      })
      .everyMinute()
    jobs.define('sound', () => null).everyMinute()
    expect(await jobs.run()).toMatchObject({ dead: 1, succeeded: 1 })
    expect(happened.filter(({ name }) => name === 'job:dead')).toHaveLength(1)
  })
})

/** A queue in memory whose schedules can be made to hang or to fail. */
function stalling(inner: WholeBackend) {
  let release = () => {}
  const stall = { next: false, release: () => release() }
  const fail = { now: false }
  const { schedules } = inner.store
  const guard = async () => {
    if (fail.now) throw new Error('the disk is gone')
    if (!stall.next) return
    stall.next = false
    await new Promise<void>((resolve) => {
      release = resolve
    })
  }
  const enqueue: ScheduleStore['enqueue'] = async (occurrences) => {
    await guard()
    return schedules.enqueue(occurrences)
  }
  const changes: ScheduleStore['changes'] = async (since, limit) => {
    await guard()
    return schedules.changes(since, limit)
  }
  const guarded = bound(schedules, { enqueue, changes })
  const store = bound(inner.store, { schedules: guarded })
  return { backend: bound(inner, { store }) as WholeBackend, stall, fail }
}

/** The same object with some of its members replaced. */
function bound<Whole extends object>(whole: Whole, changes: Partial<Whole>): Whole {
  return new Proxy(whole, {
    get(target, name) {
      if (name in changes) return changes[name as keyof Whole]
      const member = target[name as keyof Whole]
      return typeof member === 'function' ? member.bind(target) : member
    },
  })
}
