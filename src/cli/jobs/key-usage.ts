import { parseEncrypted } from '../../envelope/encryption.ts'
import { identityOf } from '../../envelope/envelope.ts'
import { readSchedule } from '../../envelope/schedule-seal.ts'
import type { WholeBackend } from '../../queue/contract/contract.ts'
import { finalStates, jobStates } from '../../queue/contract/job-state.ts'
import type { StoredDefinition } from '../../queue/contract/schedule-store.ts'
import type { JobLink, JobRecord } from '../../queue/contract/store.ts'

/** What the keys of a queue are needed for. */
export interface KeyUsage {
  /** By the id of the key. */
  readonly needs: ReadonlyMap<string, KeyNeeds>
  /** What has no signature, and is only accepted with `unsigned: 'accept'`. */
  readonly unsigned: KeyNeeds
  /** Whether there was too much to read all of it, so that the counts are lower bounds. */
  readonly isPartial: boolean
}

export interface KeyNeeds {
  /** Unfinished jobs that are signed or encrypted with it. */
  readonly jobs: number
  /** Stored schedules that are signed or encrypted with it. */
  readonly schedules: number
  /** Results that are signed with it, and that unfinished jobs have waited for or idempotency keys keep. */
  readonly results: number
}

const livingStates = jobStates.filter((state) => !finalStates.some((final) => final === state))
const page = 1_000
const mostLooked = 200_000
const mostLinked = 20_000

export async function keyUsage(backend: WholeBackend): Promise<KeyUsage> {
  const needs = new Needs()
  const areAllJobs = await countJobs(backend, needs)
  for (const { definition } of await backend.store.schedules.list()) {
    if (definition !== null) needs.add('schedules', keysOfSchedule(definition))
  }
  const areAllKept = await countKept(backend, needs)
  return { needs: needs.byKey, unsigned: needs.unsigned, isPartial: !(areAllJobs && areAllKept) }
}

export const noNeeds: KeyNeeds = { jobs: 0, schedules: 0, results: 0 }

class Needs {
  readonly byKey = new Map<string, KeyNeeds>()
  unsigned = noNeeds

  /** Counts one for each of these keys; null stands for a missing signature. */
  add(what: keyof KeyNeeds, keys: readonly (string | null)[]): void {
    const more = (before: KeyNeeds) => ({ ...before, [what]: before[what] + 1 })
    for (const key of new Set(keys)) {
      if (key === null) this.unsigned = more(this.unsigned)
      else this.byKey.set(key, more(this.byKey.get(key) ?? noNeeds))
    }
  }
}

/** Counts the unfinished jobs, and the results that they have waited for. False if there were too many. */
async function countJobs({ store }: WholeBackend, needs: Needs): Promise<boolean> {
  let [looked, linked] = [0, 0]
  for (const state of livingStates) {
    for (let before: string | undefined; looked < mostLooked; ) {
      const found = await store.list({ state, limit: page, ...(before !== undefined && { before }) })
      for (const job of found) {
        needs.add('jobs', keysOfJob(job))
        if (job.root === null || ++linked > mostLinked) continue
        for (const link of await store.links(job.id)) if (isHandedOn(link)) needs.add('results', [signerOf(link.seal)])
      }
      looked += found.length
      before = found.at(-1)?.id
      if (found.length < page) break
    }
  }
  return looked < mostLooked && linked <= mostLinked
}

/** A success without a result need not be signed. */
function isHandedOn({ seal, result }: JobLink): boolean {
  return seal !== null || result !== null
}

/** A job that was changed since it was dispatched may be signed with another key than its payload is encrypted with. */
function keysOfJob({ id, identity, signature, payload }: JobRecord): readonly (string | null)[] {
  return [signerOf(signature), ...(identityOf(id, identity)?.encrypted ? encrypterOf(payload) : [])]
}

function keysOfSchedule({ text, signature }: StoredDefinition): readonly (string | null)[] {
  const written = readSchedule(text)
  return [signerOf(signature), ...(written?.isEncrypted ? encrypterOf(written.payload) : [])]
}

function encrypterOf(text: string): readonly string[] {
  const encrypted = parseEncrypted(text)
  return encrypted === undefined ? [] : [encrypted.kid]
}

/** Counts the results kept under idempotency keys. False if not all of them could be read. */
async function countKept({ coordination, transfer }: WholeBackend, needs: Needs): Promise<boolean> {
  if (transfer === undefined) return coordination === undefined
  let looked = 0
  for (let after: string | null = null; looked < mostLooked; ) {
    const facts = await transfer.facts({ after, limit: page })
    for (const fact of facts.facts) if (fact.kind === 'once') needs.add('results', [signerOf(fact.seal)])
    looked += facts.facts.length
    after = facts.after
    if (after === null) return true
  }
  return false
}

/** The id of the key that a signature or a seal begins with. */
function signerOf(signature: string | null): string | null {
  return signature === null ? null : signature.slice(0, Math.max(signature.indexOf('.'), 0))
}
