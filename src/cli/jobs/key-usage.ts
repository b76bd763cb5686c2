import { finalStates, jobStates } from '../../queue/contract/job-state.ts'
import type { JobStore } from '../../queue/contract/store.ts'

/** How many unfinished jobs each key has signed. */
export interface KeyUsage {
  /** By the id of the signing key. */
  readonly signed: ReadonlyMap<string, number>
  readonly unsigned: number
  /** Whether there were too many jobs to read all of them, so that the counts are lower bounds. */
  readonly isPartial: boolean
}

const livingStates = jobStates.filter((state) => !finalStates.some((final) => final === state))
const page = 1_000
const mostLooked = 200_000

export async function keyUsage(store: JobStore): Promise<KeyUsage> {
  const signed = new Map<string, number>()
  let [unsigned, looked] = [0, 0]
  for (const state of livingStates) {
    for (let before: string | undefined; looked < mostLooked; ) {
      const found = await store.list({ state, limit: page, ...(before !== undefined && { before }) })
      for (const { signature } of found) {
        if (signature === null) unsigned++
        else signed.set(signerOf(signature), (signed.get(signerOf(signature)) ?? 0) + 1)
      }
      looked += found.length
      before = found.at(-1)?.id
      if (found.length < page) break
    }
  }
  return { signed, unsigned, isPartial: looked >= mostLooked }
}

function signerOf(signature: string): string {
  return signature.slice(0, Math.max(signature.indexOf('.'), 0))
}
