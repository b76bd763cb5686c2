import { describe, expect, it } from 'vitest'
import { gate } from '../../world.ts'
import { Fleet, held } from './fleet.ts'

describe('worker processes that are told to stop', () => {
  it('are drained together, and their reports are summed up (J37, A22)', async () => {
    const fleet = new Fleet({ processes: 2 })
    await fleet.start()
    fleet.supervisor.stop()
    fleet.supervisor.stop()
    expect(fleet.living.map(({ orders }) => orders)).toEqual([['drain'], ['drain']])
    fleet.get(1).ends({ succeeded: 4, retried: 1 })
    fleet.get(2).ends({ succeeded: 2, dead: 1 })
    await fleet.turn()
    expect(await fleet.ended).toMatchObject({ succeeded: 6, retried: 1, dead: 1, started: 2, died: 0 })
    expect(fleet.clock.nextTimerAt).toBeNull()
  })

  it('are not over before the jobs of a dead one were returned', async () => {
    const fleet = new Fleet({ processes: 1 })
    let returned = () => {}
    fleet.bury = () =>
      new Promise((resolve) => {
        returned = () => resolve({ returned: 1, poisoned: 2, retried: 3, dead: 4 })
      })
    await fleet.start()
    let isOver = false
    void fleet.ended?.then(() => {
      isOver = true
    })
    fleet.supervisor.stop()
    fleet.get(1).exits()
    await fleet.turn()
    expect(isOver).toBe(false)
    returned()
    expect(await fleet.ended).toMatchObject({ retried: 3, dead: 6 })
  })

  it('are aborted at the second word, and killed at the third', async () => {
    const fleet = new Fleet({ processes: 2 })
    await fleet.start()
    fleet.supervisor.stop()
    fleet.supervisor.abort()
    expect(fleet.living.map(({ orders }) => orders)).toEqual(Array(2).fill(['drain', 'abort']))
    fleet.supervisor.kill()
    expect(fleet.living.map(({ orders }) => orders)).toEqual(Array(2).fill(['drain', 'abort', 'kill']))
    await fleet.turn()
    expect(await fleet.ended).toMatchObject({ died: 0 })
    expect(fleet.buried.map(({ owner }) => owner)).toEqual(['owner-1', 'owner-2'])
  })

  it('are killed when they take longer than the grace and all that follows it', async () => {
    const fleet = new Fleet({ processes: 1 }, '5s')
    await fleet.start()
    fleet.supervisor.stop()
    await fleet.clock.advance(19_999)
    expect(fleet.get(1).orders).toEqual(['drain'])
    await fleet.clock.advance(1)
    expect(fleet.get(1).orders).toEqual(['drain', 'kill'])
    expect(fleet.names()).toContain('child:overstayed')
    await fleet.ended
  })

  it('are killed soon after an abort, however long the grace is', async () => {
    const fleet = new Fleet({ processes: 1 }, '1h')
    await fleet.start()
    fleet.supervisor.abort()
    await fleet.clock.advance(15_000)
    expect(fleet.get(1).orders).toEqual(['drain', 'abort', 'kill'])
  })

  it('are not started again, neither at once nor later', async () => {
    const fleet = new Fleet({ processes: 2 })
    await fleet.start()
    fleet.get(1).exits()
    await fleet.turn()
    fleet.supervisor.stop()
    fleet.get(2).exits({ code: 1, signal: null })
    await fleet.clock.advance(60_000)
    await fleet.ended
    expect(fleet.processes).toHaveLength(2)
  })

  it('are told also while they start', async () => {
    const fleet = new Fleet({ processes: 1 })
    fleet.begin()
    fleet.supervisor.stop()
    expect(fleet.get(1).orders).toEqual(['drain'])
    fleet.get(1).ends()
    expect(await fleet.ended).toMatchObject({ started: 1 })
  })

  it('are never started where they were told to before', async () => {
    const fleet = new Fleet({ processes: 2 })
    fleet.supervisor.stop()
    fleet.begin()
    expect(await fleet.ended).toMatchObject({ started: 0 })
    expect([fleet.processes, fleet.clock.nextTimerAt]).toEqual([[], null])
  })

  it('are not started again where the word comes while one waits for its restart', async () => {
    const fleet = new Fleet({ processes: 1 })
    await fleet.start()
    fleet.get(1).exits()
    await fleet.turn()
    fleet.supervisor.stop()
    expect(await fleet.ended).toMatchObject({ started: 1, died: 1 })
    expect([fleet.living, fleet.clock.nextTimerAt]).toEqual([[], null])
  })

  it('are over when the last look at their runs is: nothing is asked of a queue that is closed then', async () => {
    const fleet = new Fleet({ processes: 1 })
    const looked = gate()
    fleet.look = () => looked.opened
    await fleet.start()
    await fleet.clock.advance(1_000)
    let isOver = false
    void fleet.ended?.then(() => {
      isOver = true
    })
    fleet.supervisor.stop()
    fleet.get(1).ends()
    await fleet.turn()
    expect(isOver).toBe(false)
    looked.open()
    await fleet.ended
    expect(fleet.clock.nextTimerAt).toBeNull()
  })
})

describe('a worker process with a run over its hard deadline', () => {
  it('is killed, the run is settled as what it was killed for, and another process starts', async () => {
    const fleet = new Fleet({ processes: 2 })
    await fleet.start()
    fleet.overdue = [held('owner-2', { id: 'late' })]
    await fleet.clock.advance(1_000)
    expect(fleet.get(1).orders).toEqual([])
    expect(fleet.get(2).orders).toEqual(['kill'])
    expect(fleet.buried).toEqual([{ owner: 'owner-2', overdue: fleet.overdue }])
    expect(fleet.last('child:overdue')).toMatchObject({ child: 2, pid: 2, id: 'late', job: 'work' })
    await fleet.clock.advance(250)
    expect(fleet.living.map(({ place }) => place)).toEqual([1, 2])
  })

  it('is killed also while it drains', async () => {
    const fleet = new Fleet({ processes: 1 }, '1h')
    await fleet.start()
    fleet.supervisor.stop()
    fleet.overdue = [held('owner-1')]
    await fleet.clock.advance(1_000)
    await fleet.ended
    expect(fleet.buried).toEqual([{ owner: 'owner-1', overdue: fleet.overdue }])
  })
})
