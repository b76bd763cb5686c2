import { SeenJobs } from '../../../http/seen-jobs.ts'
import { HttpProblem } from '../../../http/wire/http-problem.ts'
import type { Viewer } from '../../access/viewer.ts'
import type { ViewDeps } from '../../deps.ts'
import { type LiveRows, mostLiveRows } from '../../shared/views/live-rows.ts'
import { rowOf } from './job-row.ts'

const atOnce = 10

/** Jobs of an open list by their ids, so that their rows change in place. */
export async function liveRows({ store, redaction }: ViewDeps, { grant }: Viewer, ids: string): Promise<LiveRows> {
  const asked = [...new Set(ids.split(','))]
  if (asked.length > mostLiveRows) throw new HttpProblem('invalid-request', `At most ${mostLiveRows} rows can be watched`)
  const seen = new SeenJobs(grant, store)
  const rows: Record<string, LiveRows[string]> = {}
  for (let from = 0; from < asked.length; from += atOnce) {
    const records = await Promise.all(asked.slice(from, from + atOnce).map((id) => store.get(id)))
    for (const [at, record] of records.entries()) {
      const isSeen = record !== null && grant.sees(record)
      rows[asked[from + at] as string] = isSeen ? rowOf(await seen.of(record), redaction) : null
    }
  }
  return rows
}
