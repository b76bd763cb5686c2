import { digest } from '../../../../core/text/digest.ts'
import { masked } from '../../../../core/text/masking.ts'
import type { JobRecord } from '../../../../queue/contract/store.ts'

/** Returns the same text for errors that differ only in numbers, ids, addresses, paths and quoted parts. */
export function normalMessage(message: string): string {
  return message
    .slice(0, 2_000)
    .replaceAll(/\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/gi, '‹id›')
    .replaceAll(/\bhttps?:\/\/[^\s"'<>)]+/gi, '‹url›')
    .replaceAll(/\b[\w.+-]+@[\w-]+(?:\.[\w-]+)+\b/g, '‹address›')
    .replaceAll(/\b\d{1,3}(?:\.\d{1,3}){3}\b/g, '‹ip›')
    .replaceAll(/"[^"\n]{1,200}"|'[^'\n]{1,200}'|`[^`\n]{1,200}`/g, '‹text›')
    .replaceAll(/(?<![\w‹])(?:\/[\w.@-]+){2,}/g, '‹path›')
    .replaceAll(/\b0x[0-9a-f]+\b|\b(?=[0-9a-f]*\d)[0-9a-f]{12,}\b/gi, '‹hex›')
    .replaceAll(/(?<![\w‹])\d+(?:\.\d+)?(?:ms|s|m|h|d|%|kb|mb|gb)?\b/gi, '‹n›')
    .slice(0, 300)
}

/** Version of the grouping rule, so that it can change without mixing the groups of two rules. */
const rule = 1

export function errorKeyOf(record: Pick<JobRecord, 'job' | 'errors' | 'reason'>): string {
  const last = record.errors.at(-1)
  return digest(JSON.stringify([rule, record.job, last?.code ?? null, normalMessage(last?.message ?? record.reason ?? '')]))
}

export function errorMessageOf({ errors, reason }: Pick<JobRecord, 'errors' | 'reason'>): string {
  return masked(errors.at(-1)?.message ?? reason ?? 'no message')
}
