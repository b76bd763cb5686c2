import { parseIdentity } from '../../../envelope/envelope.ts'
import { jobStates } from '../../../queue/contract/job-state.ts'
import type { JobRecord } from '../../../queue/contract/store.ts'
import { soundFields } from '../../../queue/model/spoilt.ts'
import { recordOf, type StoredJob } from '../../../queue/rules/jobs/job.ts'

/** A job's record as shown to people: always displayable, with a list of what is wrong with the rest. */
export function soundRecordOf(job: StoredJob, isSpoilt: boolean): JobRecord {
  const record = recordOf(job)
  const row = {
    ...record,
    state: jobStates.indexOf(record.state),
    errors: record.errors.length === 0 ? null : JSON.stringify(record.errors),
    created_at: record.createdAt,
    run_at: record.runAt,
    started_at: record.startedAt,
    finished_at: record.finishedAt,
    lease_until: record.leaseExpiresAt,
  }
  const hasIdentity = record.identity !== '' && parseIdentity(record.identity) !== undefined
  const fields = soundFields(row, { hasIdentity, hasLane: record.job !== '' })
  const spoilt = fields.spoilt ?? (isSpoilt ? ['something that is stored of it cannot be read'] : undefined)
  return { ...record, ...fields, ...(spoilt !== undefined && { spoilt }) }
}
