import { randomToken } from '../../core/id.ts'
import type { Logger } from '../../core/logger.ts'
import { script } from './connections/script.ts'
import type { RedisServer } from './connections/server.ts'

/** Reads it where scripts read other things. */
export const readMark = "redis.call('HGET', KEYS[1] .. 'meta', 'queue')"

const writing = script(`
if not ${readMark} then redis.call('HSET', KEYS[1] .. 'meta', 'queue', ARGV[1]) end
return ${readMark}
`)

/**
 * A random text that is stored when a queue is first opened. If it is gone, somebody has deleted the queue (`FLUSHALL`), or the
 * server has come back without its data. Nothing fails then, because an empty queue works, so it has to be logged.
 */
export class QueueMark {
  readonly #server: RedisServer
  readonly #onLost: () => void
  #known: string | null

  private constructor(server: RedisServer, known: string | null, onLost: () => void) {
    this.#server = server
    this.#known = known
    this.#onLost = onLost
  }

  static async open(server: RedisServer, place: string, logger: Logger): Promise<QueueMark> {
    const lost = `Redis at ${place} has lost the queue ${server.prefix}: its keys were deleted, or the server came back without its data`
    return new QueueMark(server, await written(server), () =>
      logger.error(`${lost}. Jobs that it held are gone. Work goes on with what is left`),
    )
  }

  /** `stored` is what the server has now. It is also missing if its key was replaced by something else, which is logged elsewhere. */
  async heard(stored: string | null, isReplaced: boolean): Promise<void> {
    if (this.#known !== null && this.#known !== stored && !isReplaced) this.#onLost()
    this.#known = stored ?? (await written(this.#server))
  }
}

/** The mark of the queue, which this writes if there is none yet; null if the server takes no writes now. */
async function written(server: RedisServer): Promise<string | null> {
  try {
    return (await server.run(writing, [randomToken()])) as string
  } catch {
    return null
  }
}
