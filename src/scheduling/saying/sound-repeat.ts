import { parseRepeat, standsStill } from '../repeating/repeat.ts'
import type { RepeatSchedule } from '../schedule.ts'
import { meaningless } from './composition.ts'

/** Parses a repeat that moves forward from every moment; rejects any other. */
export function soundRepeat(text: unknown): RepeatSchedule {
  const known = sound.get(text)
  if (known !== undefined) return known
  const repeat = parseRepeat(text as string)
  const moment = standsStill(repeat)
  if (moment !== null) {
    const at = new Date(moment).toISOString()
    throw meaningless(
      `repeat('${repeat.expression}') would not lead into the future from a run at ${at}: begin with a step forward, such as +1 DAY`,
    )
  }
  if (sound.size >= mostRemembered) sound.clear()
  sound.set(text, repeat)
  return repeat
}

/** A cache: clients of a job server send the same repeats again and again, and checking years of moments takes time. */
const sound = new Map<unknown, RepeatSchedule>()
const mostRemembered = 1_000
