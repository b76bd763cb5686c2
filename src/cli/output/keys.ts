import type { SigningKey } from '../../envelope/keys/key-ring.ts'
import { isLimited, scopeText } from '../../envelope/keys/key-scope.ts'
import { type KeyNeeds, type KeyUsage, noNeeds } from '../jobs/key-usage.ts'
import type { Output } from './output.ts'
import { plural } from './text.ts'

/** A key for display: never includes its secret. */
interface ShownKey {
  readonly id: string
  /** Whether it signs anything: false if an earlier key signs all jobs. */
  readonly signs: boolean
  readonly limits: string
  /** Null if the queue cannot be read. */
  readonly needs: KeyNeeds | null
}

export function keysText(keys: readonly SigningKey[], usage: KeyUsage | null, out: Output): string {
  const table = out.table<ShownKey>(
    [
      { head: 'KEY', cell: ({ id }) => id, whole: true },
      { head: 'SIGNS', cell: ({ signs }) => (signs ? 'yes' : 'no, verifies'), whole: true },
      { head: 'LIMITED TO', cell: ({ limits }) => limits || '-', least: 10 },
      { head: 'LIVING JOBS', cell: ({ needs }) => countText(needs?.jobs, usage), align: 'right', whole: true },
      { head: 'SCHEDULES', cell: ({ needs }) => countText(needs?.schedules, usage), align: 'right', whole: true },
      { head: 'RESULTS', cell: ({ needs }) => countText(needs?.results, usage), align: 'right', whole: true },
    ],
    keys.map((key) => shownKey(key, keys, usage)),
  )
  return [table, ...strayLines(keys, usage)].join('\n')
}

export function keysJson(file: string, keys: readonly SigningKey[], usage: KeyUsage | null): object {
  return {
    file,
    keys: keys.map((key) => {
      const { id, signs, needs } = shownKey(key, keys, usage)
      const needed = {
        livingJobs: needs?.jobs ?? null,
        storedSchedules: needs?.schedules ?? null,
        results: needs?.results ?? null,
      }
      return { id, signs, queues: key.queues ?? null, jobs: key.jobs ?? null, ...needed }
    }),
    unsignedJobs: usage?.unsigned.jobs ?? null,
    unsignedSchedules: usage?.unsigned.schedules ?? null,
    unsignedResults: usage?.unsigned.results ?? null,
    unknownKeys: strayKeys(keys, usage).map(([id, livingJobs]) => ({ id, livingJobs })),
  }
}

function shownKey(key: SigningKey, keys: readonly SigningKey[], usage: KeyUsage | null): ShownKey {
  const before = keys.slice(0, keys.indexOf(key))
  const needs = usage === null ? null : (usage.needs.get(key.id) ?? noNeeds)
  return { id: key.id, signs: before.every(isLimited), limits: scopeText(key), needs }
}

function countText(count: number | undefined, usage: KeyUsage | null): string {
  if (count === undefined) return '?'
  return usage?.isPartial ? `${count}+` : String(count)
}

/** What would happen without a key, and what to do about it. */
export function needsText({ jobs, schedules, results }: KeyNeeds): readonly string[] {
  return [
    ...(jobs === 0 ? [] : [`${plural(jobs, 'unfinished job')} would be rejected (wait for them to finish)`]),
    ...(schedules === 0 ? [] : [`${plural(schedules, 'stored schedule')} would not be followed (create them again)`]),
    ...(results === 0
      ? []
      : [
          `jobs that use ${plural(results, 'result')} of other jobs, or of idempotency keys, would be rejected (wait for them too)`,
        ]),
  ]
}

/** Jobs that will not run with these keys. */
function strayLines(keys: readonly SigningKey[], usage: KeyUsage | null): readonly string[] {
  const { jobs, schedules, results } = usage?.unsigned ?? noNeeds
  return [
    ...strayKeys(keys, usage).map(([id, count]) => `${plural(count, 'unfinished job')} signed with the unknown key ${id}`),
    ...(jobs === 0 ? [] : [`${plural(jobs, 'unfinished job')} without a signature`]),
    ...(schedules === 0 ? [] : [`${plural(schedules, 'stored schedule')} without a signature`]),
    ...(results === 0 ? [] : [`${plural(results, 'result')} without a signature, for unfinished jobs or under idempotency keys`]),
  ]
}

function strayKeys(keys: readonly SigningKey[], usage: KeyUsage | null): readonly (readonly [id: string, count: number])[] {
  const strays = [...(usage?.needs ?? [])].filter(([id]) => !keys.some((key) => key.id === id))
  return strays.flatMap(([id, { jobs }]) => (jobs === 0 ? [] : [[id, jobs] as const]))
}
