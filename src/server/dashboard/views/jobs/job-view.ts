import { whyOf } from '../../../../app/handles/why.ts'
import { masked } from '../../../../core/text/masking.ts'
import type { JobLink, JobRecord } from '../../../../queue/contract/store.ts'
import type { Grant } from '../../../access/grant.ts'
import { SeenJobs } from '../../../http/seen-jobs.ts'
import { noSuchJob } from '../../../http/wire/http-problem.ts'
import type { Viewer } from '../../access/viewer.ts'
import type { ViewDeps } from '../../deps.ts'
import type { JobView, LinkView } from '../../shared/views/job.ts'
import { copiedFrom, editRefusal } from './editing.ts'
import { rowOf } from './job-row.ts'
import { logView } from './log-view.ts'

const mostAttempts = 200
const mostLinks = 200
/** Maximum number of jobs of the workflow that are checked for waiting for this one. */
const mostAsked = 100

export async function jobView(deps: ViewDeps, { grant }: Viewer, id: string): Promise<JobView> {
  const { store, service, redaction } = deps
  const found = await store.get(id)
  if (found === null || !grant.sees(found)) throw noSuchJob(id)
  const seen = new SeenJobs(grant, store)
  const record = await seen.of(found)
  const [why, links, waiters, log] = await Promise.all([
    whyOf(id, seen.whyStore, service.queue),
    seen.whyStore.links(id),
    waitersOf(deps, grant, record, seen),
    logView(deps, id),
  ])
  const { timeoutMs, repeat, rescues, uniqueKey, idempotencyKey, parent, number } = record
  return {
    ...rowOf(record, redaction),
    lastError: record.errors.at(-1)?.message ?? null,
    payload: redaction.shown(record.payload),
    result: redaction.shown(record.result),
    progressText: redaction.shown(record.progress),
    meta: redaction.shown(Object.keys(record.meta).length === 0 ? null : JSON.stringify(record.meta)),
    errors: record.errors.slice(-mostAttempts).map(({ attempt, at, message, code = null, stack = null }) => {
      return { attempt, at, message: masked(message), code, stack: stack === null ? null : masked(stack) }
    }),
    timeoutMs,
    repeat,
    rescues,
    uniqueKey,
    idempotencyKey,
    parent,
    number,
    copyOf: copiedFrom(record),
    editRefusal: editRefusal(record, redaction),
    faults: record.spoilt ?? [],
    why: why.reasons.map(({ rule, message }) => ({ rule, message: masked(message) })),
    links: links.slice(0, mostLinks).map(linkView),
    waiters,
    log,
  }
}

/** Its payload, result, progress or meta in full, as far as the viewer may see it. */
export async function jobText(deps: ViewDeps, { grant }: Viewer, id: string, part: string): Promise<string> {
  const stored = await deps.store.get(id)
  if (stored === null || !grant.sees(stored)) throw noSuchJob(id)
  const record = await new SeenJobs(grant, deps.store).of(stored)
  const texts: Readonly<Record<string, string | null>> = {
    payload: record.payload,
    result: record.result,
    progress: record.progress,
    meta: JSON.stringify(record.meta),
  }
  const text = Object.hasOwn(texts, part) ? texts[part] : null
  if (text == null || deps.redaction.hidesPayloads) return ''
  return deps.redaction.text(text) ?? text
}

function linkView(link: JobLink | { readonly kind: JobLink['kind']; readonly waiting: boolean }): LinkView {
  const { kind, waiting } = link
  if (!('id' in link)) return { kind, waiting, id: null, job: null, key: null, state: 'missing' }
  return { kind, waiting, id: link.id, job: link.job, key: link.key, state: link.state }
}

/** The store knows which jobs a job waits for; the jobs that wait for it are found among the jobs of its workflow. */
async function waitersOf({ store }: ViewDeps, grant: Grant, record: JobRecord, seen: SeenJobs): Promise<readonly LinkView[]> {
  const { id, root } = record
  if (root === null) return []
  const members = await store.list({ root, limit: mostAsked })
  const waiters = await Promise.all(
    members.map(async (member) => {
      if (member.id === id || !grant.sees(member)) return []
      const links = await seen.whyStore.links(member.id)
      const link = links.find((each) => 'id' in each && each.id === id)
      if (link === undefined) return []
      const { job, state } = member
      return [{ kind: link.kind, waiting: link.waiting, id: member.id, job, key: null, state }]
    }),
  )
  return waiters.flat()
}
