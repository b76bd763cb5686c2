import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Treadle } from '../../app/treadle.ts'
import { isRole, type Role } from '../../client/api/roles.ts'
import { TreadleError } from '../../core/errors.ts'
import type { Logger } from '../../core/logger.ts'
import { unknownOptions } from '../../core/options.ts'
import { Grant } from '../access/grant.ts'
import { JobService } from '../jobs/job-service.ts'
import type { Viewer } from './access/viewer.ts'
import { DashboardCore } from './core.ts'
import type { PageRequest } from './exchange/exchange.ts'
import { pageRequestOfFetch, responseOf } from './exchange/fetch-adapter.ts'
import { pageRequestOf, placeOf, sendAnswer } from './exchange/node-adapter.ts'
import type { AppearanceOptions } from './options.ts'
import { type DashboardParts, dashboardParts } from './parts.ts'

/** A user that the host has authenticated. */
export interface DashboardViewer {
  /** `read` may view, `operate` may act on jobs, queues and schedules, `admin` may do everything. */
  readonly role: Role
  /** The user's name: shown on the page and recorded with every action. */
  readonly user?: string
  /** Only the jobs of these queues. */
  readonly queues?: readonly string[]
  /** Only jobs whose names match these names or patterns. */
  readonly jobs?: string | readonly string[]
}

/** Options of `dashboard`: who has access, where it is mounted, and what it hides. */
export interface DashboardOptions extends AppearanceOptions {
  /**
   * Identifies the user of this request with the host's own login; returns null to deny access. `incoming` is Node's
   * request, if there is one, with whatever a framework has added to it (`incoming.user`).
   */
  readonly authorize: (request: Request, incoming?: IncomingMessage) => Promise<DashboardViewer | null> | DashboardViewer | null
  /** The mount path, such as `/admin/jobs`. Express provides it by itself; other frameworks need it here. */
  readonly basePath?: string
  /** The path that browsers see if it differs, as behind a proxy that strips a prefix. */
  readonly publicPath?: string
}

/** A dashboard for an existing web server. Opens nothing before the first request. */
export interface Dashboard extends AsyncDisposable {
  /** For servers that use the Fetch API: Hono, Next.js. */
  readonly fetch: (request: Request) => Promise<Response>
  /** For servers built on Node's own: Express, Fastify, Koa, `node:http`. */
  readonly node: (request: IncomingMessage, response: ServerResponse) => Promise<void>
  /** Ends all streams. The queue stays open. */
  close(): Promise<void>
}

const optionNames: Readonly<Record<keyof DashboardOptions, true>> = {
  authorize: true,
  basePath: true,
  publicPath: true,
  payloads: true,
  redact: true,
  environment: true,
  colour: true,
  onAction: true,
}

/** The dashboard as a request handler, to be mounted in your own web server. */
export function dashboard(jobs: Treadle, options: DashboardOptions): Dashboard {
  refuseWrong(options)
  const { basePath, publicPath } = { basePath: trimmed(options.basePath), publicPath: trimmed(options.publicPath) }
  const opened = new Opened(jobs, options)
  const fetched = new WeakMap<PageRequest, readonly [Request, IncomingMessage?]>()
  const grants = new Grants()
  const gate = {
    viewerOf: async (request: PageRequest): Promise<Viewer | null> => {
      const [given, incoming] = fetched.get(request) ?? []
      const viewer = given === undefined ? null : await options.authorize(given, incoming)
      return viewer === null || viewer === undefined
        ? null
        : { user: viewer.user ?? null, grant: grants.of(viewer), canLogOut: false }
    },
    // The host may have to ask its database.
    recheckMs: 2_000,
    signIn: null,
    signOut: null,
  }
  const core = new DashboardCore(
    gate,
    () => opened.parts(),
    () => opened.logger,
  )
  return {
    async fetch(request) {
      const asked = pageRequestOfFetch(request, basePath ?? '', publicPath)
      fetched.set(asked, [request])
      return responseOf(await core.answer(asked))
    },
    async node(request, response) {
      const asked = pageRequestOf(request, response, placeOf(request, basePath, publicPath))
      fetched.set(asked, [requestOf(request), request])
      await sendAnswer(response, await core.answer(asked))
    },
    close: () => opened.close(),
    [Symbol.asyncDispose]: () => opened.close(),
  }
}

function refuseWrong(options: DashboardOptions): void {
  const problems = [...unknownOptions(options ?? null, Object.keys(optionNames))]
  if (typeof options?.authorize !== 'function') {
    problems.push(
      'authorize must be a function that decides who may look: a dashboard without a login would show everything to everyone',
    )
  }
  for (const name of ['basePath', 'publicPath'] as const) {
    const value = options?.[name]
    if (value !== undefined && (typeof value !== 'string' || !/^(?:\/[\w.~%@:-]+)*\/?$/.test(value)))
      problems.push(`${name} must be a path such as /admin/jobs`)
  }
  if (problems.length > 0) throw new TreadleError('CONFIG_INVALID', `The dashboard: ${problems.join('; ')}`)
}

function trimmed(path: string | undefined): string | undefined {
  return path?.replace(/\/+$/, '')
}

/** What the dashboard keeps open from the first request on. */
class Opened {
  readonly #jobs: Treadle
  readonly #options: AppearanceOptions
  #parts: Promise<DashboardParts> | null = null
  #service: JobService | null = null

  constructor(jobs: Treadle, options: AppearanceOptions) {
    this.#jobs = jobs
    this.#options = options
  }

  get logger(): Logger | null {
    return this.#service?.queue.settings.logger ?? null
  }

  parts(): Promise<DashboardParts> {
    this.#parts ??= this.#open().catch((thrown: unknown) => {
      this.#parts = null
      throw thrown
    })
    return this.#parts
  }

  async close(): Promise<void> {
    const parts = await this.#parts?.catch(() => null)
    await parts?.close()
    await this.#service?.stop()
    this.#parts = null
    this.#service = null
  }

  async #open(): Promise<DashboardParts> {
    // A missing key is reported only to a user whose action needs it.
    const served = await this.#jobs.served({ looksOnly: true })
    this.#service = new JobService(served, mostRescues)
    return dashboardParts(this.#jobs, this.#service, this.#options)
  }
}

const mostRescues = 10
const mostGrants = 1_000

/** Returns the same grant for the same rights, so that viewers with equal rights share their views. */
class Grants {
  readonly #known = new Map<string, Grant>()

  of({ role, queues, jobs }: DashboardViewer): Grant {
    if (!isRole(role))
      throw new TreadleError(
        'CONFIG_INVALID',
        `authorize returned the role ${JSON.stringify(role)}: it must be read, work, operate or admin`,
      )
    const key = JSON.stringify([role, queues ?? null, jobs ?? null])
    const known = this.#known.get(key)
    if (known !== undefined) return known
    const grant = new Grant(role, { ...(queues !== undefined && { queues }), ...(jobs !== undefined && { jobs }) })
    if (this.#known.size >= mostGrants) this.#known.clear()
    this.#known.set(key, grant)
    return grant
  }
}

/** What a host's login needs: the address and the headers. */
function requestOf(request: IncomingMessage): Request {
  const headers = new Headers()
  for (const [name, value] of Object.entries(request.headers)) {
    if (value !== undefined && !name.startsWith(':')) headers.set(name, Array.isArray(value) ? value.join(', ') : value)
  }
  const { originalUrl, url = '/' } = request as IncomingMessage & { readonly originalUrl?: string }
  const [asked, host] = [originalUrl ?? url, `http://${request.headers.host ?? 'localhost'}`]
  const address = URL.canParse(asked, host) ? new URL(asked, host) : 'http://localhost/'
  return new Request(address, { method: request.method === 'GET' || request.method === 'HEAD' ? request.method : 'GET', headers })
}
