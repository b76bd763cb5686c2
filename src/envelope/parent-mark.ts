import { digest } from '../core/text/digest.ts'

/** What the signature of a child, and of its result, says of the job that made it: which one it is, and what it calls the child. */
export function parentMarkOf({ id, key }: { readonly id: string; readonly key: string }): string {
  return digest(JSON.stringify([id, key]))
}
