import type { Clock } from '../../../core/time/clock.ts'
import type { SchemaUpkeep } from '../../../queue/contract/upkeep.ts'
import { type Judgement, judgeClock, judgeVersion, problem, warning, well } from '../../../queue/upkeep/diagnosis.ts'
import { type TableName, tables } from '../rows/tables.ts'
import type { SqlDatabase } from '../session.ts'

export interface DiagnosingParts {
  readonly database: SqlDatabase
  readonly schema: SchemaUpkeep
  readonly clock: Clock
}

const migrate = 'Run: npx treadle migrate'

export async function checkSchema({ schema }: DiagnosingParts): Promise<Judgement> {
  return judgeVersion(await schema.state(), schema.latest)
}

export async function checkClock({ database, clock }: DiagnosingParts): Promise<Judgement> {
  const before = clock.now()
  const [row] = await database.all<{ now: number }>(`SELECT ${database.dialect.nowMs} AS now`)
  const middle = before + (clock.now() - before) / 2
  return judgeClock(Math.round(Number(row?.now ?? middle) - middle))
}

export const tableNames = Object.keys(tables) as readonly TableName[]

/** An existing column and its table, by the queue's names for them. */
export interface FoundColumn {
  readonly table_name: string
  readonly column_name: string
}

/** Whether all tables exist with all their columns. */
export function judgeTables(found: readonly FoundColumn[]): Judgement {
  const columns = new Set(found.map(({ table_name, column_name }) => `${table_name}.${column_name}`))
  const present = new Set(found.map(({ table_name }) => table_name))
  if (!tableNames.some((name) => present.has(name))) return problem('there are none', migrate)
  const missing = tableNames.flatMap((name) => {
    if (!present.has(name)) return [name]
    return Object.keys(tables[name].columns).flatMap((column) => (columns.has(`${name}.${column}`) ? [] : [`${name}.${column}`]))
  })
  if (missing.length === 0) return well(`all ${tableNames.length} are there`)
  return problem(`missing: ${missing.join(', ')}`, `Create what is missing: ${planAdvice}`)
}

/**
 * `expected` maps the name of each index to the statement that creates it, or to null if the index is only created with its
 * table.
 */
export function judgeIndexes(expected: ReadonlyMap<string, string | null>, found: ReadonlySet<string>): Judgement {
  if (found.size === 0) return problem('there are none', migrate)
  const missing = [...expected.keys()].filter((name) => !found.has(name))
  if (missing.length === 0) return well(`all ${expected.size} are there`)
  const statements = missing.flatMap((name) => expected.get(name) ?? [])
  const advice = statements.length === missing.length ? `Run: ${statements.join(' ')}` : `Create what is missing: ${planAdvice}`
  return problem(`missing: ${missing.join(', ')}`, advice)
}

const planAdvice = 'npx treadle migrate --plan prints how, against an empty database.'

const noticeableMinutes = 5
const harmfulMinutes = 60

export interface LongTransaction {
  readonly minutes: number
  readonly who: string
}

/** Long transactions keep rows alive that others have since replaced or deleted, and every claim has to read past those. */
export function judgeTransactions([longest, ...others]: readonly LongTransaction[]): Judgement {
  if (longest === undefined || longest.minutes < noticeableMinutes) return well(`none for more than ${noticeableMinutes} minutes`)
  const more = others.filter(({ minutes }) => minutes >= noticeableMinutes).length
  const found = `one for ${longest.minutes} minutes (${longest.who})${more === 0 ? '' : `, and ${more} more`}`
  const advice = 'End it, or let its program commit more often: until then deleted rows stay, and claims become slower.'
  return longest.minutes < harmfulMinutes ? warning(found, advice) : problem(found, advice)
}
