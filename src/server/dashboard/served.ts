import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { Treadle } from '../../app/treadle.ts'
import { includes } from '../../client/api/roles.ts'
import type { Access } from '../access/access.ts'
import { everything, Grant } from '../access/grant.ts'
import type { ServerToken } from '../access/server-token.ts'
import { refuseOthersThanLocal } from '../http/access.ts'
import type { HttpApi } from '../http/api.ts'
import { HttpProblem } from '../http/wire/http-problem.ts'
import type { JobService } from '../jobs/job-service.ts'
import { Sessions, sessionSeconds } from './access/sessions.ts'
import { DashboardCore, type Gate, isOfDashboard, isVisit } from './core.ts'
import { jsonAnswer, type PageAnswer, type PageRequest } from './exchange/exchange.ts'
import { pageRequestOf, sendAnswer } from './exchange/node-adapter.ts'
import type { AppearanceOptions } from './options.ts'
import { dashboardParts } from './parts.ts'

export interface ServedDashboardOptions {
  readonly jobs: Treadle
  readonly service: JobService
  readonly access: Access
  readonly tokens: readonly ServerToken[]
  readonly api: HttpApi
  readonly appearance: AppearanceOptions
}

export interface ServedDashboard {
  /** Answers requests to the dashboard and passes all others to the API. */
  readonly listener: RequestListener
  /** What to append to the dashboard's address: a one-time sign-in code if a token is needed. */
  newEntrance(): string
  /** Resolves when all streams have ended. */
  close(): Promise<void>
}

/** The dashboard of a job server: at its root, behind the server's own tokens. */
export function servedDashboard(options: ServedDashboardOptions): ServedDashboard {
  const { jobs, service, access, api } = options
  const { clock, logger } = service.queue.settings
  const sessions = new Sessions(clock)
  const parts = dashboardParts(jobs, service, options.appearance)
  const gate = access.isOpen ? openGate() : new TokenGate(access, sessions, api)
  const core = new DashboardCore(
    gate,
    () => Promise.resolve(parts),
    () => logger,
  )
  const open = new Set<Promise<void>>()
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    response.on('error', () => {})
    const [path = '/', search = ''] = (request.url ?? '/').split(/\?(.*)/s)
    const asked = pageRequestOf(request, response, { base: '', path, search })
    incoming.set(asked, request)
    await sendAnswer(response, await core.answer(asked))
  }
  return {
    listener: (request, response) => {
      const path = (request.url ?? '/').split('?', 1)[0] ?? '/'
      const { method = 'GET' } = request
      const isPage = path.startsWith('/-/') || (isOfDashboard(path) && (method === 'GET' || method === 'HEAD'))
      const isForUs = isPage || isVisit({ method, accept: request.headers.accept })
      if (api.isFor(request) || !isForUs) return api.listener(request, response)
      const answering = answer(request, response)
        .catch(() => {
          response.destroy()
        })
        .finally(() => open.delete(answering))
      open.add(answering)
    },
    newEntrance: () => (access.isOpen ? '' : `login#code=${sessions.newCode(highestGrant(options.tokens))}`),
    async close() {
      await parts.close()
      while (open.size > 0) await Promise.allSettled(open)
    },
  }
}

/** Whoever starts the server gets the rights of its most powerful token. */
function highestGrant(tokens: readonly ServerToken[]): Grant {
  const best = tokens.reduce((found, token) => (includes(token.role, found.role) && isWider(token, found) ? token : found))
  return new Grant(best.role, best)
}

function isWider(token: ServerToken, found: ServerToken): boolean {
  const isLimited = ({ queues, jobs }: ServerToken) => queues !== undefined || jobs !== undefined
  return token.role !== found.role || !isLimited(token)
}

const incoming = new WeakMap<PageRequest, IncomingMessage>()

/** Without tokens, access is open to this machine and to no other. */
function openGate(): Gate {
  return {
    viewerOf: async (request) => {
      const original = incoming.get(request)
      if (original === undefined) return null
      refuseOthersThanLocal(original)
      return { user: null, grant: everything, canLogOut: false }
    },
    recheckMs: 0,
    signIn: null,
    signOut: null,
  }
}

class TokenGate implements Gate {
  readonly recheckMs = 0
  readonly #access: Access
  readonly #sessions: Sessions
  readonly #api: HttpApi

  constructor(access: Access, sessions: Sessions, api: HttpApi) {
    this.#access = access
    this.#sessions = sessions
    this.#api = api
  }

  readonly viewerOf: Gate['viewerOf'] = async (request) => {
    const secret = cookieOf(request)
    const viewer = secret === undefined ? null : this.#sessions.find(secret)
    const socket = incoming.get(request)?.socket
    if (viewer !== null && socket !== undefined) this.#api.recognize(socket)
    return viewer
  }

  readonly signIn: Gate['signIn'] = async (request) => {
    const { code, token } = ((await request.body()) ?? {}) as { readonly code?: unknown; readonly token?: unknown }
    const address = incoming.get(request)?.socket.remoteAddress ?? ''
    if (!(await this.#access.wait(address))) {
      throw new HttpProblem('too-many-failures', 'Too many wrong tokens came from this address', {
        headers: { 'retry-after': '5' },
      })
    }
    const byCode = typeof code === 'string' ? this.#sessions.redeem(code) : null
    // A wrong code counts like a wrong token.
    const grant = byCode ?? this.#access.grantOf(typeof token === 'string' ? token : '', address)
    if (grant === null) {
      throw new HttpProblem(
        'unauthorized',
        typeof code === 'string'
          ? 'The link was used already, or is older than ten minutes. Sign in with a token'
          : 'The token is not one of this server',
      )
    }
    const secret = this.#sessions.begin(grant, null)
    return {
      ...jsonAnswer({ role: grant.role }),
      headers: { 'content-type': 'application/json', 'set-cookie': cookie(request, secret, sessionSeconds) },
    }
  }

  readonly signOut: Gate['signOut'] = (request): PageAnswer => {
    const secret = cookieOf(request)
    if (secret !== undefined) this.#sessions.end(secret)
    return { status: 204, headers: { 'set-cookie': cookie(request, '', 0) }, body: null }
  }
}

/** Cookies are shared between ports, so the name contains the port: two servers on one machine keep separate sessions. */
function cookieName(request: PageRequest): string {
  const port = incoming.get(request)?.socket.localPort ?? 0
  return `${request.isTls ? '__Host-' : ''}treadle-${port}`
}

function cookie(request: PageRequest, value: string, seconds: number): string {
  return `${cookieName(request)}=${value}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${seconds}${request.isTls ? '; Secure' : ''}`
}

function cookieOf(request: PageRequest): string | undefined {
  const start = `${cookieName(request)}=`
  const found = (request.header('cookie') ?? '').split(/; */).find((each) => each.startsWith(start))
  return found?.slice(start.length)
}
