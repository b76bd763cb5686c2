import { parseEncrypted } from '../../../../envelope/encryption.ts'
import type { JobRecord } from '../../../../queue/contract/store.ts'
import { copyMember } from '../../../http/routes/copying-jobs.ts'
import { HttpProblem, noSuchJob } from '../../../http/wire/http-problem.ts'
import type { Viewer } from '../../access/viewer.ts'
import type { ViewDeps } from '../../deps.ts'
import type { ApiCaller } from '../../exchange/api-caller.ts'
import { readJson } from '../../shared/json-tree.ts'
import type { Redaction } from './redaction.ts'

/** Maximum size of a payload that can be edited in the page. */
const mostEdited = 64 * 1024

/** Why the payload of a job cannot be edited here; null if it can. */
export function editRefusal({ payload }: Pick<JobRecord, 'payload'>, redaction: Redaction): string | null {
  if (parseEncrypted(payload) !== undefined) return 'Its payload is encrypted'
  if (redaction.hidesPayloads) return 'Payloads are hidden here'
  if (payload.length > mostEdited) return 'Its payload is too large to be edited here'
  if (readJson(payload) === null) return 'Its payload cannot be read as JSON'
  return redaction.redacts(payload) ? 'A part of its payload is redacted, and would be lost' : null
}

/** The job that this one is a copy of; null if it is not a copy. */
export function copiedFrom({ meta }: Pick<JobRecord, 'meta'>): string | null {
  const from = meta[copyMember]
  return typeof from === 'string' ? from : null
}

/** Runs a job again as a new one, with the payload text entered in the page, so that no digit of it changes. */
export async function copyJob(deps: ViewDeps, { grant }: Viewer, body: unknown, api: ApiCaller): Promise<unknown> {
  const { id, payload } = (body ?? {}) as { readonly id?: unknown; readonly payload?: unknown }
  if (typeof id !== 'string' || typeof payload !== 'string')
    throw new HttpProblem('invalid-request', 'id must be that of a job, and payload a JSON text')
  const record = await deps.store.get(id)
  if (record === null || !grant.sees(record)) throw noSuchJob(id)
  const refusal = editRefusal(record, deps.redaction)
  if (refusal !== null) throw new HttpProblem('forbidden', `${refusal}: send it again from a program`)
  if (readJson(payload) === null) throw new HttpProblem('malformed-json', 'The payload cannot be read as JSON')
  return (await api.callWith('POST', `/jobs/${encodeURIComponent(id)}/copy`, grant, `{"payload":${payload}}`)).body
}
