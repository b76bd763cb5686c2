import { TreadleError } from '../../../../core/errors.ts'
import { nextOfRepeat } from '../../../../execution/end/repeating.ts'
import type { CatchUpLimits } from '../../../../scheduling/repeating/catch-up.ts'
import { applyModifiers, parseModifier } from '../../../../scheduling/repeating/repeat-modifiers.ts'
import { soundRepeat } from '../../../../scheduling/saying/sound-repeat.ts'
import type { EndedRun } from '../../../../scheduling/schedule.ts'
import { Refusal } from '../../wire/refusal.ts'

/**
 * The repeat as it is stored, in upper case. Null if there is none. A repeat without a next time, or one that may stall or go
 * back in time, is refused.
 */
export function repeatOf(text: string | undefined, now: number): string | null {
  if (text === undefined || text === '') return null
  try {
    soundRepeat(text).next(now)
  } catch (thrown) {
    if (thrown instanceof TreadleError) throw new Refusal(402, 'Malformed repeat')
    throw thrown
  }
  return text.toUpperCase()
}

export function nextRunOf(repeat: string, run: EndedRun, limits: CatchUpLimits | undefined): number {
  try {
    return nextOfRepeat(repeat, run, limits)
  } catch (thrown) {
    // Its modifiers lead to a year outside the supported range.
    if (thrown instanceof TreadleError) throw new Refusal(402, 'Malformed repeat')
    throw thrown
  }
}

export function isBasedOn(repeat: string, base: 'SCHEDULED' | 'STARTED'): boolean {
  return repeat.startsWith(base)
}

/** The `retryAfter` as it is stored, which is as it was sent. Empty if there is none. One that leads nowhere is refused. */
export function retryAfterOf(text: string | undefined, now: number): string {
  if (text === undefined || text === '') return ''
  if (modifiersOf(text) === null) throw malformedRetryAfter()
  retryTime(text, now)
  return text
}

/** When a job that is handed out now may be handed out again. This may be in the past. */
export function retryTime(retryAfter: string, now: number): number {
  try {
    return applyModifiers(modifiersOf(retryAfter) ?? [], now)
  } catch (thrown) {
    // Its modifiers lead to a year outside the supported range.
    if (thrown instanceof TreadleError) throw malformedRetryAfter()
    throw thrown
  }
}

function malformedRetryAfter(): Refusal {
  return new Refusal(402, 'Malformed retryAfter')
}

function modifiersOf(text: string) {
  const modifiers = text
    .toUpperCase()
    .split(',')
    .map((item) => item.replace(/^ +/, ''))
    .filter((item) => item !== '')
    .map((item) => (item === 'START OF HOUR' ? null : parseModifier(item)))
  const isSound = modifiers.length > 0 && modifiers.every((modifier) => modifier !== null)
  return isSound ? modifiers.filter((modifier) => modifier !== null) : null
}
