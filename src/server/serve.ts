import { newAlerts } from '../app/alerts/alerts.ts'
import type { Treadle } from '../app/treadle.ts'
import { randomToken } from '../core/id.ts'
import { hostName, processId } from '../core/process/environment.ts'
import { LastCalls } from '../worker/loop/last-calls.ts'
import { Access } from './access/access.ts'
import { answerOn } from './bedrock/commands/answer.ts'
import { serverOwner, WireQueue } from './bedrock/jobs/wire-queue.ts'
import { type BedrockListener, listenBedrock } from './bedrock/listener.ts'
import { type ServedDashboard, servedDashboard } from './dashboard/served.ts'
import { httpApi } from './http/api.ts'
import { type HttpListener, listenHttp } from './http/listener.ts'
import { JobService } from './jobs/job-service.ts'
import { QueueWatch } from './jobs/queue-watch.ts'
import { type ServeConfig, type ServeOptions, serveConfig } from './serve-options.ts'

/** The address that a server listens on. */
export interface Address {
  readonly host: string
  readonly port: number
}

/** A running job server. */
export interface JobServer extends AsyncDisposable {
  /** Address of the TCP protocol; null if it is disabled. */
  readonly address: Address | null
  /** Address of the HTTP API; null if it is disabled. */
  readonly httpAddress: Address | null
  /**
   * URL of the dashboard; null if it is disabled. If a token is needed, the URL signs in the first person who opens it within ten
   * minutes. Each call returns a new one.
   */
  dashboardUrl(): string | null
  /**
   * Resolves with the reason if the queue is permanently lost, for example because the database file was replaced. Only a restart
   * helps.
   */
  readonly lost: Promise<Error>
  /**
   * Takes no more requests, answers pending ones, and releases its resources. Whatever takes longer than `graceMs` is cut off.
   * May be called again with a shorter time.
   */
  stop(options?: { readonly graceMs?: number }): Promise<void>
}

const openWarning = 'The job server has no token: every program and every user of this machine may create, claim and change jobs'
const defaultGraceMs = 10_000

/**
 * Lets other programs, in any language, use the queue of this program until the server is stopped. The queue itself stays open.
 */
export async function serve(jobs: Treadle, options: ServeOptions = {}): Promise<JobServer> {
  const config = serveConfig(options)
  // An invalid definition would fail every claim: refuse it now, with what is wrong with it.
  jobs.definitions()
  // If all tokens are read-only, nothing that changes jobs needs to be signed or verified.
  const looksOnly = config.tokens.length > 0 && config.tokens.every(({ role }) => role === 'read')
  const service = new JobService(await jobs.served({ looksOnly }), config.maxRescues, config.catchUp)
  const { clock, logger } = service.queue.settings
  const access = new Access(config.tokens, clock)
  if (access.isOpen) logger.warn(openWarning)
  const wire = new WireQueue({
    ...service,
    owner: `${serverOwner}${hostName()}:${processId()}:${randomToken().slice(0, 6)}`,
    leaseMs: config.leaseMs,
  })
  const listeners: Listeners = { bedrock: null, http: null, dashboard: null }
  const watch = new QueueWatch(service.queue.backend)
  const { backend, registry, settings } = service.queue
  const alerts = newAlerts(settings.alerts, { ...settings, backend, registry, url: jobs.url })
  const lastCalls = new LastCalls(clock, (message) => logger.warn(message))
  const stop = async (graceMs: number) => {
    watch.stop()
    const closing = [listeners.bedrock, listeners.http].map((listener) => listener?.stop({ graceMs }))
    const closed = listeners.dashboard?.close()
    // Answer clients that wait for jobs now: nothing else would end their wait.
    await lastCalls.ended(service.stopClaiming(), alerts?.stop())
    await Promise.all([...closing, closed])
    await lastCalls.ended(service.stop())
  }
  try {
    service.heldChildren.start()
    alerts?.start()
    if (config.port !== null) listeners.bedrock = await speakBedrock(config.port, config, access, wire)
    if (config.httpPort !== null) await speakHttp(config.httpPort, config, access, jobs, service, listeners)
  } catch (thrown) {
    await stop(0)
    throw thrown
  }
  let stopping: Promise<void> | undefined
  const stopOnce: JobServer['stop'] = ({ graceMs = defaultGraceMs } = {}) => {
    if (stopping === undefined) stopping = stop(graceMs)
    else {
      lastCalls.hurry()
      for (const listener of [listeners.bedrock, listeners.http]) void listener?.stop({ graceMs })
    }
    return stopping
  }
  return {
    address: listeners.bedrock?.address ?? null,
    httpAddress: listeners.http?.address ?? null,
    dashboardUrl: () => dashboardUrl(listeners, config),
    lost: watch.lost,
    stop: stopOnce,
    [Symbol.asyncDispose]: () => stopOnce(),
  }
}

interface Listeners {
  bedrock: BedrockListener | null
  http: HttpListener | null
  dashboard: ServedDashboard | null
}

function speakBedrock(port: number, { host, tls }: ServeConfig, access: Access, wire: WireQueue): Promise<BedrockListener> {
  const { clock, logger } = wire.deps.queue.settings
  const answer = answerOn(wire)
  // Health checks of load balancers have no token.
  const needsToken = ({ verb }: { readonly verb: string }) => verb !== 'get'
  const onRequest = (client: object) => wire.deps.groupCommit.saw(client)
  return listenBedrock({ host, port, answer, needsToken, onRequest, access, clock, logger, ...(tls && { tls }) })
}

async function speakHttp(
  port: number,
  { host, tls, tokens, dashboard: appearance }: ServeConfig,
  access: Access,
  jobs: Treadle,
  service: JobService,
  listeners: Listeners,
): Promise<void> {
  const { clock, logger } = service.queue.settings
  const api = httpApi({ jobs, service, access, logger })
  const dashboard = appearance === null ? null : servedDashboard({ jobs, service, access, tokens, api, appearance })
  listeners.dashboard = dashboard
  const listener = dashboard === null ? {} : { listener: dashboard.listener }
  listeners.http = await listenHttp({ host, port, api, clock, logger, ...listener, ...(tls && { tls }) })
}

function dashboardUrl({ http, dashboard }: Listeners, { tls }: ServeConfig): string | null {
  if (http === null || dashboard === null) return null
  const { host, port } = http.address
  // A browser cannot open 0.0.0.0.
  const name = host === '0.0.0.0' || host === '::' ? 'localhost' : host.includes(':') ? `[${host}]` : host
  return `${tls === undefined ? 'http' : 'https'}://${name}:${port}/${dashboard.newEntrance()}`
}
