import type { Treadle } from '../app/treadle.ts'
import { hostName, processId } from '../core/environment.ts'
import { randomToken } from '../core/id.ts'
import { answerOn } from './bedrock/commands/answer.ts'
import { type BedrockListener, listenBedrock } from './bedrock/listener.ts'
import { WireQueue } from './bedrock/rules/wire-queue.ts'
import { type ServeConfig, type ServeOptions, serveConfig } from './serve-options.ts'
import { JobService } from './service/job-service.ts'

export interface Address {
  readonly host: string
  readonly port: number
}

export interface JobServer extends AsyncDisposable {
  /** Where the TCP protocol is spoken; null where it is not. */
  readonly address: Address | null
  /** Where the HTTP API is; null where it is not. */
  readonly httpAddress: Address | null
  /** Takes no more requests, answers those that it has, and lets go. What takes longer than the grace is cut off. */
  stop(options?: { readonly graceMs?: number }): Promise<void>
}

const defaultGraceMs = 10_000

/** Lets other programs, in any language, use the queue of this one, until it is stopped. The queue itself stays open. */
export async function serve(jobs: Treadle, options: ServeOptions = {}): Promise<JobServer> {
  const config = serveConfig(options)
  const service = new JobService(await jobs.served(), config.maxRescues)
  const wire = new WireQueue({
    ...service,
    owner: `server ${hostName()}:${processId()}:${randomToken().slice(0, 6)}`,
    leaseMs: config.leaseMs,
    catchUp: config.catchUp,
  })
  let bedrock: BedrockListener | null = null
  try {
    bedrock = await listen(config, wire)
  } catch (thrown) {
    await service.stop()
    throw thrown
  }
  let stopping: Promise<void> | undefined
  const stop = async (graceMs: number) => {
    const closing = bedrock?.stop({ graceMs })
    // Those who wait for jobs are answered now: nothing else would end their wait.
    await service.stopClaiming()
    await closing
    await wire.idle()
    await service.stop()
  }
  const stopOnce: JobServer['stop'] = ({ graceMs = defaultGraceMs } = {}) => {
    stopping ??= stop(graceMs)
    return stopping
  }
  return {
    address: bedrock?.address ?? null,
    httpAddress: null,
    stop: stopOnce,
    [Symbol.asyncDispose]: () => stopOnce(),
  }
}

async function listen({ host, port, token, tls }: ServeConfig, wire: WireQueue): Promise<BedrockListener | null> {
  if (port === null) return null
  const { clock, logger } = wire.deps.queue.settings
  return listenBedrock({
    host,
    port,
    answer: answerOn(wire),
    clock,
    logger,
    ...(token !== undefined && { token }),
    ...(tls !== undefined && { tls }),
  })
}
