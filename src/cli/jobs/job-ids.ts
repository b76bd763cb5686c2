import { TreadleError } from '../../core/errors.ts'
import type { JobRecord, JobStore } from '../../queue/contract/store.ts'
import { UsageError } from '../failure.ts'

/** The job with this id, or the only one whose id begins with it. */
export async function findJob(store: JobStore, id: string): Promise<JobRecord> {
  refuseShort(id)
  const job = (await store.get(id)) ?? (await findByPrefix(store, id))
  if (job !== null) return job
  throw new TreadleError(
    'RUN_NOT_FOUND',
    `There is no job with the id "${id}". It never existed, or its retention period has passed; "treadle list" shows what there is.`,
  )
}

/** Completes the beginning of an id; returns it unchanged if it matches no job. */
export async function wholeId(store: JobStore, id: string): Promise<string> {
  refuseShort(id)
  return isPrefix(id) ? ((await findByPrefix(store, id))?.id ?? id) : id
}

/** Shorter prefixes would match every job of an hour. */
const shortestPrefix = 8
const uuidShape = 'ffffffff-ffff-ffff-ffff-ffffffffffff'
const hexadecimal = /^[0-9a-f-]+$/

function refuseShort(id: string): void {
  if (id.length >= shortestPrefix || !hexadecimal.test(id)) return
  throw new UsageError(`"${id}" is too short: give at least the first ${shortestPrefix} characters of the id`)
}

function isPrefix(id: string): boolean {
  return id.length >= shortestPrefix && id.length < uuidShape.length && hexadecimal.test(id)
}

/** Ids sort by creation time, so ids with the same prefix are adjacent. */
async function findByPrefix(store: JobStore, prefix: string): Promise<JobRecord | null> {
  if (!isPrefix(prefix)) return null
  const found = await store.list({ before: prefix + uuidShape.slice(prefix.length), limit: 2 })
  const [job, another] = found.filter(({ id }) => id.startsWith(prefix))
  if (another === undefined) return job ?? null
  throw new TreadleError(
    'RUN_NOT_FOUND',
    `Several jobs have ids that begin with "${prefix}", such as ${job?.id} and ${another.id}. Give more characters of the id.`,
  )
}
