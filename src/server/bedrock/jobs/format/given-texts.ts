import { TreadleError } from '../../../../core/errors.ts'
import { refuseWritten } from '../../../../core/text/json.ts'
import { Refusal } from '../../wire/refusal.ts'
import { isMockKey, mockKey } from '../mock-jobs.ts'
import type { WireQueue } from '../wire-queue.ts'

const longestName = 255

/** The key of a job under its new name, which must be valid for a new job; null if the name does not change. */
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

/**
 * The data that a job ends with may be no larger, and nested no deeper, than the data of a new job. Text that is not JSON is left
 * to the command.
 */
export function refuseUnfitData(data: string | undefined, { deps }: WireQueue): void {
  if (data === undefined) return
  const { maxPayloadBytes: maxBytes } = deps.queue.settings
  if (Buffer.byteLength(data) > maxBytes) throw malformedData()
  try {
    refuseWritten(JSON.parse(data), data, { what: 'data', maxBytes })
  } catch (thrown) {
    if (thrown instanceof TreadleError) throw malformedData()
  }
}

function malformedData(): Refusal {
  return new Refusal(402, 'Malformed data')
}
