import { TreadleError } from '../../../core/errors.ts'
import { Refusal } from '../wire/refusal.ts'
import { isMockKey, mockKey } from './mock-jobs.ts'
import type { WireQueue } from './wire-queue.ts'

const longestName = 255

/** The key of a job under another name, which must be one that a new job could have; null where it keeps its own. */
export function renamed(job: string, name: string | undefined, jobs: WireQueue): string | null {
  if (name === undefined) return null
  if (Buffer.byteLength(name) > longestName || isMockKey(name)) throw malformedName()
  const key = isMockKey(job) ? mockKey(name) : name
  try {
    return jobs.deps.creating.definitionOf(key).job
  } catch (thrown) {
    if (thrown instanceof TreadleError) throw malformedName()
    throw thrown
  }
}

function malformedName(): Refusal {
  return new Refusal(402, 'Malformed name')
}

/** What a job is left with may be no larger than what it could be made with. */
export function refuseLargeData(data: string | undefined, { deps }: WireQueue): void {
  if (data !== undefined && Buffer.byteLength(data) > deps.queue.settings.maxPayloadBytes)
    throw new Refusal(402, 'Malformed data')
}
