import type { SigningKey } from '../../envelope/keys/key-ring.ts'
import { isLimited, scopeText } from '../../envelope/keys/key-scope.ts'
import type { KeyUsage } from '../jobs/key-usage.ts'
import type { Output } from './output.ts'
import { plural } from './text.ts'

/** A key for display: never includes its secret. */
interface ShownKey {
  readonly id: string
  /** Whether it signs anything: false if an earlier key signs all jobs. */
  readonly signs: boolean
  readonly limits: string
  /** Unfinished jobs that it signed; null if the queue cannot be read. */
  readonly jobs: number | null
}

export function keysText(keys: readonly SigningKey[], usage: KeyUsage | null, out: Output): string {
  const table = out.table<ShownKey>(
    [
      { head: 'KEY', cell: ({ id }) => id, whole: true },
      { head: 'SIGNS', cell: ({ signs }) => (signs ? 'yes' : 'no, verifies'), whole: true },
      { head: 'LIMITED TO', cell: ({ limits }) => limits || '-', least: 10 },
      { head: 'LIVING JOBS', cell: ({ jobs }) => jobsText(jobs, usage), align: 'right', whole: true },
    ],
    keys.map((key) => shownKey(key, keys, usage)),
  )
  return [table, ...strayLines(keys, usage)].join('\n')
}

export function keysJson(file: string, keys: readonly SigningKey[], usage: KeyUsage | null): object {
  return {
    file,
    keys: keys.map((key) => {
      const { id, signs, jobs } = shownKey(key, keys, usage)
      return { id, signs, queues: key.queues ?? null, jobs: key.jobs ?? null, livingJobs: jobs }
    }),
    unsignedJobs: usage?.unsigned ?? null,
    unknownKeys: strayKeys(keys, usage).map(([id, livingJobs]) => ({ id, livingJobs })),
  }
}

function shownKey(key: SigningKey, keys: readonly SigningKey[], usage: KeyUsage | null): ShownKey {
  const before = keys.slice(0, keys.indexOf(key))
  const jobs = usage === null ? null : (usage.signed.get(key.id) ?? 0)
  return { id: key.id, signs: before.every(isLimited), limits: scopeText(key), jobs }
}

function jobsText(jobs: number | null, usage: KeyUsage | null): string {
  if (jobs === null) return '?'
  return usage?.isPartial ? `${jobs}+` : String(jobs)
}

/** Jobs that will not run with these keys. */
function strayLines(keys: readonly SigningKey[], usage: KeyUsage | null): readonly string[] {
  const unsigned = usage?.unsigned ?? 0
  return [
    ...strayKeys(keys, usage).map(([id, count]) => `${plural(count, 'unfinished job')} signed with the unknown key ${id}`),
    ...(unsigned === 0 ? [] : [`${plural(unsigned, 'unfinished job')} without a signature`]),
  ]
}

function strayKeys(keys: readonly SigningKey[], usage: KeyUsage | null): readonly (readonly [id: string, count: number])[] {
  return [...(usage?.signed ?? [])].filter(([id]) => !keys.some((key) => key.id === id))
}
