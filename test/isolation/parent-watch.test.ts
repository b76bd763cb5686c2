import { afterEach, describe, expect, test } from 'vitest'
import { isAlive } from '../processes/alive.ts'
import { endPrograms, eventually, startProgram } from '../processes/program.ts'

describe('a process that watches the one which started it', () => {
  const started: number[] = []
  afterEach(async () => {
    await endPrograms()
    for (const pid of started.splice(0)) if (isAlive(pid)) process.kill(pid, 'SIGKILL')
  })

  test.each([{ isBlocked: false }, { isBlocked: true }])('ends with it, and its group too, %o', async ({ isBlocked }) => {
    const { parent, child, grandchild } = await family({ graceMs: 0, detached: true, isBlocked })
    expect([child, grandchild].map(isAlive)).toEqual([true, true])
    await parent.kill()
    await eventually('nothing of the group is left', () => !isAlive(child) && !isAlive(grandchild))
  })

  test('ends alone where it leads no group', async () => {
    const { parent, child, grandchild } = await family({ graceMs: 0, detached: false, isBlocked: true })
    parent.signal('SIGKILL')
    await eventually('it has ended', () => !isAlive(child))
    expect(isAlive(grandchild)).toBe(true)
  })

  test('hears of the end, and may end by itself before the grace is over', async () => {
    const { parent, child } = await family({ graceMs: 3_600_000, detached: false, heeds: true })
    parent.signal('SIGKILL')
    await parent.line(`gone ${child}`)
    await eventually('it has ended', () => !isAlive(child))
  })

  test('is killed after the grace when it goes on', async () => {
    const { parent, child } = await family({ graceMs: 250, detached: false })
    parent.signal('SIGKILL')
    await parent.line(`gone ${child}`)
    await eventually('it has ended', () => !isAlive(child))
  })

  async function family(options: object) {
    const parent = startProgram('watched-parent', options)
    const [child, grandchild] = (await parent.line('child')).split(' ').slice(1).map(Number) as [number, number]
    started.push(child, grandchild)
    return { parent, child, grandchild }
  }
})
