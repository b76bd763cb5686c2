import { TreadleError } from '../../../src/core/errors.ts'
import { say } from '../../../src/core/speaking.ts'
import { ScheduleDescription } from '../../../src/scheduling/saying/schedule-words.ts'
import type { Schedule } from '../../../src/scheduling/schedule.ts'

/** The words of a schedule without a job. */
export class Words extends ScheduleDescription {
  isFrozen = false

  get result(): Schedule | null {
    return this.toSchedule()
  }

  override [say](word: string, args: readonly unknown[]): void {
    if (this.isFrozen) throw new TreadleError('DEFINITION_FROZEN', 'too late')
    super[say](word, args)
  }
}

export const words = () => new Words()

/** So many occurrences after an instant, as UTC texts to the minute. */
export function runs({ result }: Words, from: string, count: number): readonly string[] {
  const texts: string[] = []
  let at = Date.parse(from)
  for (let run = 0; run < count; run++) {
    at = result?.next(at) as number
    texts.push(new Date(at).toISOString().slice(0, 'YYYY-MM-DDTHH:MM'.length))
  }
  return texts
}
