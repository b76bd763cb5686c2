import type { Treadle } from '../app/treadle.ts'
import { hostName, processId } from '../core/environment.ts'
import { randomToken } from '../core/id.ts'
import { Access } from './access/access.ts'
import { answerOn } from './bedrock/commands/answer.ts'
import { type BedrockListener, listenBedrock } from './bedrock/listener.ts'
import { serverOwner, WireQueue } from './bedrock/rules/wire-queue.ts'
import { httpApi } from './http/api.ts'
import { type HttpListener, listenHttp } from './http/listener.ts'
import { type ServeConfig, type ServeOptions, serveConfig } from './serve-options.ts'
import { JobService } from './service/job-service.ts'
import { QueueWatch } from './service/queue-watch.ts'

export interface Address {
  readonly host: string
  readonly port: number
}

export interface JobServer extends AsyncDisposable {
  /** Where the TCP protocol is spoken; null where it is not. */
  readonly address: Address | null
  /** Where the HTTP API is; null where it is not. */
  readonly httpAddress: Address | null
  /** Resolves with the reason where the queue is lost for good, such as a database file that was replaced: only a new start helps. */
  readonly lost: Promise<Error>
  /**
   * Takes no more requests, answers those that it has, and lets go. What takes longer than the grace is cut off. It may be called
   * again, with less time.
   */
  stop(options?: { readonly graceMs?: number }): Promise<void>
}

const openWarning =
  'The job server has no token: every program and every user of this machine may create jobs, and take and change all that there are'
const defaultGraceMs = 10_000

/** Lets other programs, in any language, use the queue of this one, until it is stopped. The queue itself stays open. */
export async function serve(jobs: Treadle, options: ServeOptions = {}): Promise<JobServer> {
  const config = serveConfig(options)
  // Where every token only looks, nothing is signed or verified that changes anything.
  const looksOnly = config.tokens.length > 0 && config.tokens.every(({ role }) => role === 'read')
  const service = new JobService(await jobs.served({ looksOnly }), config.maxRescues)
  const { clock, logger } = service.queue.settings
  const access = new Access(config.tokens, clock)
  if (access.isOpen) logger.warn(openWarning)
  const wire = new WireQueue({
    ...service,
    owner: `${serverOwner}${hostName()}:${processId()}:${randomToken().slice(0, 6)}`,
    leaseMs: config.leaseMs,
    catchUp: config.catchUp,
  })
  const listeners: Listeners = { bedrock: null, http: null }
  const watch = new QueueWatch(service.queue.backend)
  const stop = async (graceMs: number) => {
    watch.stop()
    const closing = [listeners.bedrock, listeners.http].map((listener) => listener?.stop({ graceMs }))
    // Those who wait for jobs are answered now: nothing else would end their wait.
    await service.stopClaiming()
    await Promise.all(closing)
    await wire.heldChildren.stop()
    await wire.idle()
    await service.stop()
  }
  try {
    wire.heldChildren.start()
    if (config.port !== null) listeners.bedrock = await speakBedrock(config.port, config, access, wire)
    if (config.httpPort !== null) listeners.http = await speakHttp(config.httpPort, config, access, jobs, service)
  } catch (thrown) {
    await stop(0)
    throw thrown
  }
  let stopping: Promise<void> | undefined
  const stopOnce: JobServer['stop'] = ({ graceMs = defaultGraceMs } = {}) => {
    if (stopping === undefined) stopping = stop(graceMs)
    else for (const listener of [listeners.bedrock, listeners.http]) void listener?.stop({ graceMs })
    return stopping
  }
  return {
    address: listeners.bedrock?.address ?? null,
    httpAddress: listeners.http?.address ?? null,
    lost: watch.lost,
    stop: stopOnce,
    [Symbol.asyncDispose]: () => stopOnce(),
  }
}

interface Listeners {
  bedrock: BedrockListener | null
  http: HttpListener | null
}

function speakBedrock(port: number, { host, tls }: ServeConfig, access: Access, wire: WireQueue): Promise<BedrockListener> {
  const { clock, logger } = wire.deps.queue.settings
  const answer = answerOn(wire)
  // Load balancers that ask whether it lives have no token.
  const needsToken = ({ verb }: { readonly verb: string }) => verb !== 'get'
  const onRequest = (client: object) => wire.deps.company.saw(client)
  return listenBedrock({ host, port, answer, needsToken, onRequest, access, clock, logger, ...(tls && { tls }) })
}

function speakHttp(
  port: number,
  { host, tls }: ServeConfig,
  access: Access,
  jobs: Treadle,
  service: JobService,
): Promise<HttpListener> {
  const { clock, logger } = service.queue.settings
  const api = httpApi({ jobs, service, access, logger })
  return listenHttp({ host, port, api, clock, logger, ...(tls && { tls }) })
}
