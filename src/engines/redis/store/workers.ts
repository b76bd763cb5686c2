import {
  byStart,
  type WorkerPresence,
  type WorkerRecord,
  type WorkerStore,
  workerRecord,
} from '../../../queue/contract/stores/worker-store.ts'
import { parsed } from '../../../queue/model/parsed-json.ts'
import type { RedisStoreParts } from './store-parts.ts'

/** The live workers, one field each. A worker that announces itself removes those that have expired. */
export class RedisWorkers implements WorkerStore {
  readonly #parts: RedisStoreParts

  constructor(parts: RedisStoreParts) {
    this.#parts = parts
  }

  async announce(worker: WorkerPresence, ttlMs: number): Promise<void> {
    await this.#parts.ready()
    const { server, time } = this.#parts
    const now = time.now()
    const expired = (await this.#all()).filter(({ expiresAt }) => expiresAt <= now).map(({ owner }) => owner)
    const others = expired.filter((owner) => owner !== worker.owner)
    await server.change([
      ['HSET', 'workers', worker.owner, JSON.stringify({ ...worker, seenAt: now, expiresAt: now + ttlMs })],
      ...(others.length > 0 ? [['HDEL', 'workers', ...others] as const] : []),
    ])
  }

  async leave(owner: string): Promise<void> {
    await this.#parts.ready()
    await this.#parts.server.all([['HDEL', 'workers', owner]])
  }

  async list(): Promise<readonly WorkerRecord[]> {
    await this.#parts.ready()
    const now = this.#parts.time.now()
    return (await this.#all()).filter(({ expiresAt }) => expiresAt > now).toSorted(byStart)
  }

  async #all(): Promise<readonly WorkerRecord[]> {
    const [rows] = (await this.#parts.server.all([['HVALS', 'workers']])) as [string[]]
    return rows.flatMap((text) => {
      const { jobs, seenAt, expiresAt, ...said } = Object(parsed(text)) as Readonly<Record<string, unknown>>
      return workerRecord(JSON.stringify(said), JSON.stringify(jobs), seenAt as number, expiresAt as number)
    })
  }
}
