import type { WhyStore } from '../../app/handles/why.ts'
import type { QueueEvent } from '../../app/observing/events/queue-event.ts'
import type { Meta } from '../../definition/meta.ts'
import { wireMetaOf, withWireMeta } from '../../envelope/bedrock-meta.ts'
import type { JobLink, JobRecord, JobStore } from '../../queue/contract/store.ts'
import type { WorkerRecord } from '../../queue/contract/stores/worker-store.ts'
import { isAboutOthers, isClipped } from '../../queue/rules/workflows/waiting.ts'
import type { Grant } from '../access/grant.ts'
import { seenWorkers } from '../access/seen-workers.ts'

/** Jobs as a token may see them: ids, names and texts of related jobs outside its limits are removed. */
export class SeenJobs {
  readonly #grant: Grant
  readonly #store: JobStore
  /** By id, so that each is looked up once per request. */
  readonly #isSeen = new Map<string, Promise<boolean>>()

  constructor(grant: Grant, store: JobStore) {
    this.#grant = grant
    this.#store = store
  }

  async of(record: JobRecord): Promise<JobRecord> {
    if (!this.#grant.isLimited) return record
    const { id, parent, root, meta, errors, reason, state } = record
    return {
      ...record,
      parent: await this.#seenId(parent),
      root: root === id ? root : await this.#seenId(root),
      meta: await this.#seenMeta(meta),
      errors: await Promise.all(errors.map((error) => this.#seenError(error))),
      reason: state === 'skipped' && reason !== null ? (await this.#seenError({ message: reason })).message : reason,
    }
  }

  /** An event of a job that the token may see. */
  async ofEvent(event: QueueEvent): Promise<QueueEvent> {
    if (!this.#grant.isLimited) return event
    return {
      ...event,
      ...('error' in event && event.error !== undefined && { error: await this.#seenError(event.error) }),
      ...('why' in event && event.why !== null && { why: (await this.#seenError({ message: event.why })).message }),
      ...('meta' in event && event.meta !== undefined && { meta: await this.#seenMeta(event.meta) }),
    }
  }

  /** The other job that holds the unique key of this one, as the token may name it. */
  async holderOf(id: string): Promise<string> {
    const [holder = null] = await this.#store.holders([id])
    return this.named(holder)
  }

  /** A job in a sentence: by its id, if the token may see it. */
  async named(id: string | null): Promise<string> {
    return (await this.#seenId(id)) === null ? 'another job' : `job ${id}`
  }

  /** The store used to explain why a job does not run, limited to what the token may see. */
  get whyStore(): WhyStore {
    const store = this.#store
    return {
      get: async (id) => {
        const record = await store.get(id)
        return record === null ? null : this.of(record)
      },
      links: async (id) => Promise.all((await store.links(id)).map((link) => this.#seenLink(link))),
      holds: (id, rules) => store.holds(id, rules),
      paused: () => store.paused(),
      workers: { list: () => this.#seenWorkers() },
    }
  }

  async #seenWorkers(): Promise<readonly WorkerRecord[]> {
    const known = this.#grant.isLimited ? await this.#store.counts() : []
    return seenWorkers(await this.#store.workers.list(), this.#grant, known)
  }

  async #seenLink(link: JobLink): Promise<JobLink | { kind: JobLink['kind']; waiting: boolean; isHidden: true }> {
    const { id, job, kind, waiting } = link
    return job === null || (await this.#sees(id)) ? link : { kind, waiting, isHidden: true }
  }

  async #seenMeta(meta: Meta): Promise<Meta> {
    return (await this.#seenId(wireMetaOf(meta).parent)) === null ? withoutParent(meta) : meta
  }

  async #seenId(id: string | null): Promise<string | null> {
    return id !== null && (await this.#sees(id)) ? id : null
  }

  /** If a job failed because of another one, its error reveals that job and the jobs that it waited for in turn. */
  async #seenError<Failure extends { readonly message: string; readonly code?: string }>(error: Failure): Promise<Failure> {
    const { message, code } = error
    if (!(isAboutOthers(message) || code === 'RESULT_FORGED')) return error
    const seen = await Promise.all((message.match(jobIds) ?? []).map((id) => this.#sees(id)))
    if (seen.every(Boolean) && !isClipped(message)) return error
    const { stack: _, ...told } = error as Failure & { readonly stack?: string }
    return { ...told, message: hiddenFailure } as Failure
  }

  #sees(id: string): Promise<boolean> {
    if (!this.#grant.isLimited) return Promise.resolve(true)
    const known = this.#isSeen.get(id) ?? this.#look(id)
    this.#isSeen.set(id, known)
    return known
  }

  async #look(id: string): Promise<boolean> {
    const record = await this.#store.get(id)
    return record !== null && this.#grant.sees(record)
  }
}

/** A remote worker does not need the parent of its job. */
export function withoutParent(meta: Meta): Meta {
  const wire = wireMetaOf(meta)
  return wire.parent === null ? meta : withWireMeta(meta, { ...wire, parent: null })
}

const jobIds = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g
const hiddenFailure = 'It ended because of a job that this token may not see'
