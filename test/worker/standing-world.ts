import type { Clock } from '../../src/core/time/clock.ts'
import { openMemory } from '../../src/engines/memory/index.ts'
import type { WholeBackend } from '../../src/queue/contract/contract.ts'
import { ManualClock } from '../../src/testing/manual-clock.ts'
import { overlaid } from '../testing/broken-backend.ts'
import { worldOn } from '../world.ts'

/** A program whose event loop can be made to stand still: its clock goes on, and nothing happens meanwhile. */
export function standingWorld(changes: Partial<WholeBackend> = {}, computed?: () => number) {
  const manual = new ManualClock()
  let skewMs = 0
  const clock: Clock = {
    now: () => manual.now() + skewMs,
    random: () => manual.random(),
    timer: (delayMs, run) => manual.timer(delayMs, run),
    ...(computed && { computed }),
  }
  const sound = openMemory({ clock })
  const made = worldOn(overlaid<WholeBackend>(sound, changes), manual, { clock })
  const standStill = (ms: number) => {
    skewMs += ms
  }
  const stalls = () => made.happened.flatMap(({ name, event }) => (name === 'worker:stalled' ? [event] : []))
  return { ...made, manual, standStill, stalls }
}

export async function end(jobs: { stop(): Promise<void> }, working: Promise<unknown>, clock: ManualClock): Promise<void> {
  const stopping = jobs.stop()
  await clock.advance(10_000)
  await stopping
  await working
}
