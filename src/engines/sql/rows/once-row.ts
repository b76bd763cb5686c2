import type { KeptKey } from '../../../queue/rules/keys/once-keys.ts'

/** An idempotency key. As long as nothing says until when it is kept, it is held by a job. */
export interface OnceRow {
  readonly once_key: string
  readonly job_id: string
  readonly done_until: number | null
  readonly result: string | null
  readonly seal: string | null
}

export const onceColumns = 'once_key, job_id, done_until, result, seal'

/** Undefined as long as a job holds the key. */
export function keptKeyOf({ once_key: key, done_until: expiresAt, result, seal }: OnceRow): KeptKey | undefined {
  return expiresAt === null ? undefined : { key, result, seal, expiresAt }
}
