import type { WhyStore } from '../../app/handles/why.ts'
import type { Meta } from '../../definition/meta.ts'
import { wireMetaOf, withWireMeta } from '../../envelope/bedrock-meta.ts'
import type { JobLink, JobRecord, JobStore } from '../../queue/contract/store.ts'
import type { Grant } from '../access/grant.ts'

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
      meta: (await this.#seenId(wireMetaOf(meta).parent)) === null ? withoutParent(meta) : meta,
      errors: await Promise.all(errors.map((error) => this.#seenError(error))),
      reason: state === 'skipped' && reason !== null ? (await this.#seenError({ message: reason })).message : reason,
    }
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
      workers: store.workers,
    }
  }

  async #seenLink(link: JobLink): Promise<JobLink | { kind: JobLink['kind']; waiting: boolean; isHidden: true }> {
    const { id, job, kind, waiting } = link
    return job === null || (await this.#sees(id)) ? link : { kind, waiting, isHidden: true }
  }

  async #seenId(id: string | null): Promise<string | null> {
    return id !== null && (await this.#sees(id)) ? id : null
  }

  /** If a job failed because of another one, its error reveals that job and the jobs that it waited for in turn. */
  async #seenError<Failure extends { readonly message: string; readonly code?: string }>(error: Failure): Promise<Failure> {
    const { message, code } = error
    if (!(aboutOthers.test(message) || code === 'RESULT_FORGED')) return error
    const seen = await Promise.all((message.match(jobIds) ?? []).map((id) => this.#sees(id)))
    if (seen.every(Boolean) && !message.includes(clip)) return error
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

/** How `failureText` and `impatienceText` begin. */
const aboutOthers = /^(?:The job .* that it (?:waited for|made) |It waited for longer than )/s
const jobIds = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g
/** Marks where the middle of a long text was left out, which may have cut an id in half. */
const clip = ' … '
const hiddenFailure = 'It ended because of a job that this token may not see'
