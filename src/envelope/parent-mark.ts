import { digest } from '../core/text/digest.ts'

/** What the signatures of a child and of its result say about its parent: the parent's id, and the key it gave the child. */
export function parentMarkOf({ id, key }: { readonly id: string; readonly key: string }): string {
  return digest(JSON.stringify([id, key]))
}
