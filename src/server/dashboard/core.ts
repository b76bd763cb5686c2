import { messageOf } from '../../core/errors.ts'
import type { Logger } from '../../core/logger.ts'
import type { Json } from '../../core/text/json.ts'
import { type Clock, stopwatchOf } from '../../core/time/clock.ts'
import { version } from '../../core/version.ts'
import { HttpProblem, problemOf } from '../http/wire/http-problem.ts'
import { writeJson } from '../http/wire/verbatim.ts'
import { pageHeaders } from './access/page-headers.ts'
import { refuseForeign } from './access/same-origin.ts'
import type { Viewer } from './access/viewer.ts'
import { actWords } from './act-words.ts'
import { Assets } from './assets.ts'
import type { BulkRequest } from './bulk.ts'
import type { DashboardDeps } from './dashboard-deps.ts'
import { jsonAnswer, type PageAnswer, type PageRequest } from './exchange/exchange.ts'
import type { DashboardParts } from './parts.ts'
import type { Me } from './shared/views/viewer.ts'
import { countedDead } from './views/dead/error-groups.ts'
import { copyJob } from './views/jobs/editing.ts'
import { jobText } from './views/jobs/job-view.ts'
import { previewOf, searchJobs } from './views/jobs/searching.ts'
import { draftView, saveDraft } from './views/schedule-draft.ts'
import { calendarView } from './views/schedules.ts'
import { workflowPage } from './views/workflows.ts'

/** Who has access, and how to sign in. */
export interface Gate {
  /** Null if the viewer is unknown. */
  viewerOf(request: PageRequest): Promise<Viewer | null>
  /** How often the viewer of an open stream is looked up again at most. */
  readonly recheckMs: number
  /** Exchanges credentials for a session; null if the dashboard has no sign-in of its own. */
  readonly signIn: ((request: PageRequest) => Promise<PageAnswer>) | null
  readonly signOut: ((request: PageRequest) => PageAnswer) | null
}

/** The allowed first segments of a page's path. */
const pages = ['', 'jobs', 'queues', 'workflows', 'schedules', 'dead', 'workers', 'engine', 'activity', 'login']

/** Everything that is not a page lives below this path. */
const below = '/-/'

/** Whether the dashboard serves this path, relative to where it is mounted. */
export function isOfDashboard(path: string): boolean {
  return path.startsWith(below) || pages.includes(path.split('/')[1] ?? '')
}

/** Whether somebody has opened this address in a browser: then even a refusal is a page. */
export function isVisit({ method, accept }: { readonly method: string; readonly accept: string | undefined }): boolean {
  return (method === 'GET' || method === 'HEAD') && accept?.includes('text/html') === true
}

/** Answers all requests to the dashboard, wherever it is mounted. */
export class DashboardCore {
  readonly #assets = new Assets()
  readonly #gate: Gate
  readonly #parts: () => Promise<DashboardParts>
  readonly #logger: () => Logger | null

  constructor(gate: Gate, parts: () => Promise<DashboardParts>, logger: () => Logger | null) {
    this.#gate = gate
    this.#parts = parts
    this.#logger = logger
  }

  async answer(request: PageRequest): Promise<PageAnswer> {
    const answer = await this.#reply(request).catch((thrown: unknown) => this.#problem(thrown, request))
    const body = request.method === 'HEAD' ? null : answer.body
    return {
      ...answer,
      headers: { ...pageHeaders, ...answer.headers },
      body: isStream(body) ? this.#logged(body, request) : body,
    }
  }

  /** The answer has begun, so a failure can only break it off. */
  async *#logged(body: AsyncIterable<string | Uint8Array>, request: PageRequest): AsyncGenerator<string | Uint8Array> {
    try {
      yield* body
    } catch (thrown) {
      this.#problem(thrown, request)
      throw thrown
    }
  }

  async #reply(request: PageRequest): Promise<PageAnswer> {
    const { path, method, base } = request
    const isReading = method === 'GET' || method === 'HEAD'
    if (!path.startsWith(below)) {
      const isKnown = isOfDashboard(path)
      if (!isKnown && !isVisit({ method, accept: request.header('accept') }))
        throw new HttpProblem('not-found', 'There is no such page')
      if (!isReading) throw new HttpProblem('method-not-allowed', 'A page can only be read', { headers: { allow: 'GET, HEAD' } })
      const hasSignIn = this.#gate.signIn !== null
      // The page has no data and says what is wrong. It is a refusal unless it can offer a sign-in.
      const refused = hasSignIn ? null : await this.#refusalOf(request)
      return this.#assets.shell({ base, status: refused ?? (isKnown ? 200 : 404), hasSignIn })
    }
    const name = path.slice(below.length)
    const file = isReading ? this.#assets.file(name, request) : null
    if (file !== null) return file
    refuseForeign(request)
    if (name === 'login' && method === 'POST' && this.#gate.signIn !== null) return this.#gate.signIn(request)
    const viewer = await this.#gate.viewerOf(request)
    if (viewer === null)
      throw new HttpProblem('unauthorized', this.#gate.signIn === null ? 'Sign in first' : 'Sign in with a token')
    if (name === 'logout' && method === 'POST' && this.#gate.signOut !== null) return this.#gate.signOut(request)
    const parts = await this.#parts()
    return isReading ? this.#read(name, request, viewer, parts) : this.#change(name, request, viewer, parts)
  }

  /** The status with which a page is refused to whoever asks for it; null if it is not. */
  async #refusalOf(request: PageRequest): Promise<number | null> {
    try {
      return (await this.#gate.viewerOf(request)) === null ? 401 : null
    } catch (thrown) {
      if (thrown instanceof HttpProblem && isVisit({ method: request.method, accept: request.header('accept') }))
        return thrown.status
      throw thrown
    }
  }

  async #read(name: string, request: PageRequest, viewer: Viewer, parts: DashboardParts): Promise<PageAnswer> {
    const { deps, topics } = parts
    const { query } = request
    const cursor = query.get('cursor') ?? undefined
    switch (name) {
      case 'me':
        return jsonAnswer(meOf(viewer, deps))
      case 'events':
        if (!topics.hasRoom) throw new HttpProblem('unavailable', 'Too many pages are open', { headers: { 'retry-after': '5' } })
        return {
          status: 200,
          headers: streamHeaders,
          body: topics.stream(viewer, query.getAll('topic'), request.signal, this.#recheck(request, deps.clock)),
        }
      case 'view':
        return jsonAnswer(await topics.read(viewer, query.get('topic') ?? ''))
      case 'jobs':
        return jsonAnswer(await searchJobs(deps, viewer, { filter: query.get('q') ?? '', cursor }))
      case 'export':
        return exportOf(request, viewer, deps, this.#recheck(request, deps.clock))
      case 'text': {
        const [id, part] = [query.get('id') ?? '', query.get('part') ?? '']
        return fileAnswer('text/plain', 'job.json.txt', await jobText(deps, viewer, id, part))
      }
      case 'dead':
        return jsonAnswer(await countedDead(deps, viewer, cursor))
      case 'workflows':
        return jsonAnswer(await workflowPage(deps, viewer, cursor))
      case 'calendar':
        return jsonAnswer(await calendarView(deps, viewer, Number(query.get('from')), Number(query.get('to'))))
      case 'bulk':
        return jsonAnswer(deps.bulk.get(viewer, query.get('id') ?? ''))
      default:
        throw new HttpProblem('not-found', 'There is nothing at this address')
    }
  }

  /** Whether the viewer is still known, as of a moment ago: there may be an event for each of many streams every second. */
  #recheck(request: PageRequest, clock: Clock): () => Promise<boolean> {
    let elapsed = stopwatchOf(clock)
    return async () => {
      if (elapsed() < this.#gate.recheckMs) return true
      elapsed = stopwatchOf(clock)
      return (await this.#gate.viewerOf(request)) !== null
    }
  }

  async #change(name: string, request: PageRequest, viewer: Viewer, parts: DashboardParts): Promise<PageAnswer> {
    const { deps, topics, views, api } = parts
    const sent = await request.body()
    // What is passed to the API is checked there.
    const body = name.startsWith('api/') ? sent : membersOf(sent)
    if (name === 'preview')
      return jsonAnswer(await previewOf(deps, viewer, String((body as { readonly filter?: unknown }).filter ?? '')))
    if (name === 'explain-schedule') return jsonAnswer(await draftView(deps, body))
    if (!viewer.grant.may('operate'))
      throw new HttpProblem('forbidden', `The role ${viewer.grant.role} may only look: this needs operate`)
    try {
      if (name === 'bulk' && request.method === 'POST') return jsonAnswer(deps.bulk.start(viewer, body as BulkRequest), 202)
      if (name === 'bulk' && request.method === 'DELETE')
        return jsonAnswer(deps.bulk.abort(viewer, request.query.get('id') ?? ''))
      if (name === 'doctor') return jsonAnswer(await views.engine.diagnose(viewer))
      if (name === 'cancel-workflow') return jsonAnswer(await cancelWorkflow(deps, viewer, body))
      if (name === 'copy' || name === 'schedule') {
        const answer = await (name === 'copy' ? copyJob : saveDraft)(deps, viewer, body, api)
        const { id, key } = body as { readonly id?: string; readonly key?: string }
        const what = name === 'copy' ? `edit and run again the job ${id}` : `store the schedule "${key}"`
        const href = name === 'copy' ? `/jobs/${id}` : `/schedules/${encodeURIComponent(`stored:${key}`)}`
        deps.activity.add(viewer, { what, href })
        return { status: 201, headers: { 'content-type': 'application/json' }, body: writeJson(answer) }
      }
      if (!name.startsWith('api/')) throw new HttpProblem('not-found', 'There is nothing at this address')
      const path = name.slice('api'.length)
      const reply = await api.call(request.method, path, viewer.grant, body as Json | undefined, request.signal)
      deps.activity.add(viewer, actWords(request.method, path))
      return {
        status: reply.status,
        headers: { 'content-type': 'application/json' },
        body: reply.body === undefined ? null : writeJson(reply.body),
      }
    } finally {
      deps.snapshots.forget()
      topics.refresh()
    }
  }

  #problem(thrown: unknown, { method, path }: PageRequest): PageAnswer {
    const known = problemOf(thrown)
    if (known === null) this.#logger()?.error(`The dashboard could not answer ${method} ${path}: ${messageOf(thrown)}`)
    const problem = known ?? new HttpProblem('internal-error', 'It could not be answered; the log of the server says why')
    return {
      status: problem.status,
      headers: { ...problem.parts.headers, 'content-type': 'application/problem+json' },
      body: JSON.stringify(problem),
    }
  }
}

function membersOf(body: unknown): object {
  if (body === undefined) return {}
  if (typeof body === 'object' && body !== null && !Array.isArray(body)) return body
  throw new HttpProblem('invalid-request', 'The body must be a JSON object')
}

const streamHeaders = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
}

function isStream(body: PageAnswer['body']): body is AsyncIterable<string | Uint8Array> {
  return body !== null && typeof body !== 'string' && !(body instanceof Uint8Array)
}

function fileAnswer(type: string, name: string, body: PageAnswer['body']): PageAnswer {
  const headers = { 'content-type': `${type}; charset=utf-8`, 'content-disposition': `attachment; filename="${name}"` }
  return { status: 200, headers, body }
}

function exportOf(
  { query, signal }: PageRequest,
  viewer: Viewer,
  { exports }: DashboardDeps,
  isStillKnown: () => Promise<boolean>,
): PageAnswer {
  const [filter, format] = [query.get('q') ?? '', query.get('format') ?? '']
  const { text, format: chosen } = exports.start(viewer, { filter, format, isStillKnown, signal })
  return fileAnswer(chosen === 'csv' ? 'text/csv' : 'application/x-ndjson', `jobs.${chosen}`, text)
}

function meOf({ user, grant, canLogOut }: Viewer, { service, environment, colour, clock }: DashboardDeps): Me {
  const { role, queues, isLimited } = grant
  const backend = service.queue.backend.kind
  return { user, role, queues, isLimited, canLogOut, version, backend, environment, colour, now: clock.now() }
}

async function cancelWorkflow({ store, activity }: DashboardDeps, viewer: Viewer, body: unknown): Promise<unknown> {
  const { root } = (body ?? {}) as { readonly root?: unknown }
  if (typeof root !== 'string') throw new HttpProblem('invalid-request', 'root must be the id of a workflow')
  // The jobs of a workflow may be in any queue.
  if (viewer.grant.isLimited) throw new HttpProblem('forbidden', 'Only a viewer who may see all jobs of a workflow can cancel it')
  const cancelled = await store.cancel(root, { tree: true })
  activity.add(viewer, { what: `cancel the workflow ${root}`, href: `/workflows/${root}` })
  return cancelled
}
