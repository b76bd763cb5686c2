import { describe, expect, it } from 'vitest'
import { TreadleError } from '../../src/core/errors.ts'
import { openMemory } from '../../src/engines/memory/index.ts'
import type { WholeBackend } from '../../src/queue/contract/contract.ts'
import { ManualClock } from '../../src/testing/manual-clock.ts'
import { overlaid } from '../testing/broken-backend.ts'
import { until, type World, worldOn } from '../world.ts'

describe('an end that the queue refuses, as of a job whose rows someone has spoilt', () => {
  it.each([1, 2])('keeps none of the others from being written, and is written when it can be: %d of them', async (spoilt) => {
    const { world, refused } = refusingWorld()
    const bad = world.jobs.define('bad', async () => {})
    const good = world.jobs.define('good', async () => {})
    for (let made = 0; made < spoilt; made++) refused.add((await bad.dispatch()).id)
    const first = await good.dispatch()
    const working = world.jobs.work({ signals: false, scheduler: false })
    await movedUntil(world, async () => (await first.state()) === 'succeeded')
    const later = await good.dispatch()
    await movedUntil(world, async () => (await later.state()) === 'succeeded')
    const ids = [...refused]
    expect(await Promise.all(ids.map((id) => world.jobs.handle(id).state()))).toEqual(ids.map(() => 'running'))
    refused.clear()
    await movedUntil(world, async () => {
      const states = await Promise.all(ids.map((id) => world.jobs.handle(id).state()))
      return states.every((state) => state === 'succeeded')
    })
    await world.jobs.stop()
    await working
  })

  it('does not keep a worker from stopping', async () => {
    const { world, refused } = refusingWorld()
    const bad = world.jobs.define('bad', async () => {})
    const good = world.jobs.define('good', async () => {})
    refused.add((await bad.dispatch()).id)
    const last = await good.dispatch()
    const working = world.jobs.work({ signals: false, scheduler: false })
    await movedUntil(world, async () => (await last.state()) === 'succeeded')
    const stopped = world.jobs.stop().then(() => working)
    let isOver = false
    void stopped.then(() => {
      isOver = true
    })
    await movedUntil(world, () => isOver)
  })
})

/** A queue in memory that refuses the ends of some jobs, whatever they come with. */
function refusingWorld(): { readonly world: World; readonly refused: Set<string> } {
  const clock = new ManualClock()
  const sound = openMemory({ clock })
  const refused = new Set<string>()
  const held = new Map<string, string>()
  const refusing = overlaid<WholeBackend>(sound, {
    async lease(request) {
      const batch = await sound.lease(request)
      for (const { token, envelope } of batch.leases) held.set(token, envelope.id)
      return batch
    },
    async settle(settlements) {
      const isRefused = settlements.some(({ token }) => refused.has(held.get(token) ?? ''))
      if (isRefused) throw new TreadleError('DATABASE_FAILED', 'refused')
      return sound.settle(settlements)
    },
  })
  return { world: worldOn(refusing, clock), refused }
}

async function movedUntil({ clock }: World, isSo: () => boolean | Promise<boolean>): Promise<void> {
  await until(async () => {
    await clock.advance(1_000)
    return isSo()
  })
}
