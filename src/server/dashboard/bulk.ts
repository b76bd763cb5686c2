import { messageOf } from '../../core/errors.ts'
import { randomToken } from '../../core/id.ts'
import type { JobRecord } from '../../queue/contract/store.ts'
import { HttpProblem, problemOf } from '../http/wire/http-problem.ts'
import type { Viewer } from './access/viewer.ts'
import type { ViewDeps } from './deps.ts'
import type { ApiCaller } from './exchange/api-caller.ts'
import { parseFilter } from './shared/filter.ts'
import type { BulkAction, BulkView } from './shared/views/bulk.ts'
import { errorKeyOf } from './views/dead/error-key.ts'
import { matchingOf } from './views/jobs/matching.ts'
import { termsOf } from './views/jobs/searching.ts'
import { walk } from './views/jobs/walk.ts'

export interface BulkRequest {
  readonly action: BulkAction
  /** Which jobs: these ids, or the jobs that match the filter. */
  readonly ids?: readonly string[]
  readonly filter?: string
  /** Of those, only the jobs that died of this error. */
  readonly errorKey?: string
  /** The number of jobs that the user confirmed. */
  readonly expected: number
  readonly runAt?: string
}

const bulkActions: readonly BulkAction[] = ['retry', 'cancel', 'delete', 'run-now', 'reschedule']

const mostIds = 1_000
const mostKept = 100
const mostRefusals = 20
const atOnce = 8
const namedJobs = /\bjob [0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g
const rowsAtOnce = 200
const patient = { rows: 1_000, bytes: 64 * 1024 * 1024, ms: 1_000 }

interface Running {
  readonly viewer: Viewer
  readonly view: BulkView
  readonly stop: AbortController
  readonly ended: Promise<void>
}

type Counts = {
  looked: number
  done: number
  endedAt: number | null
  failure: string | null
  refused: Map<string, { count: number; sampleId: string }>
}

/**
 * Acts on many jobs, each by the same rules as for a single job. Continues when the page is closed.
 * Covers the jobs that matched when the action was confirmed; jobs created or ended after that are left alone.
 */
export class BulkActions {
  readonly #deps: ViewDeps
  readonly #api: ApiCaller
  readonly #running = new Map<string, Running>()

  constructor(deps: ViewDeps, api: ApiCaller) {
    this.#deps = deps
    this.#api = api
  }

  start(viewer: Viewer, request: BulkRequest): BulkView {
    this.#refuse(request)
    const id = randomToken()
    const stop = new AbortController()
    const startedAt = this.#deps.clock.now()
    const counts: Counts = { looked: 0, done: 0, endedAt: null, failure: null, refused: new Map() }
    const { action, filter = null, expected } = request
    const view = (): BulkView => ({
      id,
      action,
      filter,
      user: viewer.user,
      startedAt,
      endedAt: counts.endedAt,
      expected,
      looked: counts.looked,
      done: counts.done,
      refused: [...counts.refused].map(([why, each]) => ({ why, ...each })),
      isAborted: stop.signal.aborted,
      failure: counts.failure,
    })
    const ended = this.#run(viewer, request, counts, startedAt, stop.signal)
    this.#running.set(id, {
      viewer,
      get view() {
        return view()
      },
      stop,
      ended,
    })
    for (const old of this.#running.keys()) if (this.#running.size > mostKept) this.#running.delete(old)
    this.#deps.activity.add(viewer, {
      what: `${action} ${expected} jobs`,
      bulk: view,
      ...(filter !== null && { href: `/jobs?q=${encodeURIComponent(filter)}` }),
    })
    return view()
  }

  get(viewer: Viewer, id: string): BulkView {
    return this.#find(viewer, id).view
  }

  abort(viewer: Viewer, id: string): BulkView {
    const found = this.#find(viewer, id)
    found.stop.abort()
    return found.view
  }

  async close(): Promise<void> {
    for (const { stop } of this.#running.values()) stop.abort()
    await Promise.all([...this.#running.values()].map(({ ended }) => ended))
  }

  /** Who is limited to some jobs finds only what was started under the same limits. */
  #find({ grant }: Viewer, id: string): Running {
    const found = this.#running.get(id)
    if (found === undefined || (grant.isLimited && found.viewer.grant !== grant))
      throw new HttpProblem('not-found', 'There is no such bulk action, or it ended long ago')
    return found
  }

  #refuse({ action, ids, filter, runAt, expected }: BulkRequest): void {
    const problems = [
      ...(bulkActions.includes(action) ? [] : [`action must be one of ${bulkActions.join(', ')}`]),
      ...((ids === undefined) === (filter === undefined) ? ['give either ids or filter'] : []),
      ...(ids !== undefined && (!Array.isArray(ids) || ids.length > mostIds || !ids.every((id) => typeof id === 'string'))
        ? [`ids must be at most ${mostIds} ids`]
        : []),
      ...(filter !== undefined && typeof filter !== 'string' ? ['filter must be a string'] : []),
      ...(action === 'reschedule' && typeof runAt !== 'string' ? ['runAt must be a time'] : []),
      ...(Number.isSafeInteger(expected) && expected > 0 ? [] : ['expected must be the number of jobs that was confirmed']),
    ]
    if (typeof filter === 'string' && filter.trim() === '')
      problems.push('an empty filter does not select all jobs: name their states')
    if (problems.length === 0 && typeof filter === 'string') {
      const parsed = parseFilter(filter)
      for (const { message } of parsed.problems ?? []) problems.push(message)
    }
    if (problems.length > 0) throw new HttpProblem('invalid-request', problems.join('; '))
  }

  async #run(viewer: Viewer, request: BulkRequest, counts: Counts, frozenAt: number, signal: AbortSignal): Promise<void> {
    const act = async (id: string) => {
      if (signal.aborted) return
      counts.looked++
      try {
        await this.#act(viewer, request, id)
        counts.done++
      } catch (thrown) {
        this.#refused(counts, id, thrown)
      }
    }
    try {
      if (request.ids !== undefined) await inBatches(request.ids, act)
      else await this.#all(viewer, request, frozenAt, signal, (ids) => inBatches(ids, act))
    } catch (thrown) {
      counts.failure = problemOf(thrown)?.message ?? 'It ended early; the log of the server says why'
      this.#deps.logger.error(`A bulk action of the dashboard failed: ${messageOf(thrown)}`)
    }
    counts.endedAt = this.#deps.clock.now()
    this.#deps.snapshots.forget()
  }

  async #all(
    viewer: Viewer,
    request: BulkRequest,
    frozenAt: number,
    signal: AbortSignal,
    each: (ids: readonly string[]) => Promise<void>,
  ): Promise<void> {
    const { store, clock, redaction } = this.#deps
    const { filter = '', errorKey } = request
    const matching = matchingOf(termsOf(filter), frozenAt, redaction)
    const isMeant = (record: JobRecord) =>
      record.createdAt <= frozenAt &&
      (record.finishedAt ?? 0) <= frozenAt &&
      matching.matches(record) &&
      (errorKey === undefined || errorKeyOf(record) === errorKey)
    let cursor: string | undefined
    do {
      const ids: string[] = []
      const walked = await walk(
        store,
        clock,
        { filter: matching.stored, grant: viewer.grant, cursor, oldest: matching.oldest, budget: patient, rowsAtOnce },
        (record) => {
          if (isMeant(record)) ids.push(record.id)
          return ids.length >= rowsAtOnce ? 'enough' : 'more'
        },
      )
      await each(ids)
      cursor = walked.next ?? undefined
    } while (cursor !== undefined && !signal.aborted)
  }

  async #act({ grant }: Viewer, { action, runAt = '' }: BulkRequest, id: string): Promise<void> {
    const path = `/jobs/${encodeURIComponent(id)}`
    switch (action) {
      case 'retry':
        await this.#api.call('POST', `${path}/retry`, grant)
        return
      case 'cancel':
        await this.#api.call('POST', `${path}/cancel`, grant)
        return
      case 'delete':
        await this.#api.call('DELETE', path, grant)
        return
      case 'run-now':
        await this.#api.call('PATCH', path, grant, { runAt: new Date(this.#deps.clock.now()).toISOString() })
        return
      case 'reschedule':
        await this.#api.call('PATCH', path, grant, { runAt })
        return
    }
  }

  #refused({ refused }: Counts, id: string, thrown: unknown): void {
    const problem = problemOf(thrown)
    if (problem === null) this.#deps.logger.error(`A bulk action of the dashboard failed for job ${id}: ${messageOf(thrown)}`)
    // The same reason may differ only in the job ids it names; the page of the sample names them.
    const why = (problem?.message ?? 'It failed; the log of the server says why')
      .replaceAll(id, '')
      .replaceAll(/ {2,}/g, ' ')
      .replaceAll(namedJobs, 'another job')
    const known = refused.get(why)
    if (known !== undefined) known.count++
    else if (refused.size < mostRefusals) refused.set(why, { count: 1, sampleId: id })
  }
}

/** Several at a time, because the queue writes concurrent changes together. */
async function inBatches(ids: readonly string[], act: (id: string) => Promise<void>): Promise<void> {
  for (let from = 0; from < ids.length; from += atOnce) await Promise.all(ids.slice(from, from + atOnce).map(act))
}
