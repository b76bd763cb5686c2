import type { Clock } from '../../core/clock.ts'
import { type Check, type Judgement, judgeClock, judgeVersion, problem, warning, well } from '../diagnosing.ts'
import type { SchemaUpkeep } from '../upkeep.ts'
import type { SqlDatabase } from './session.ts'
import { tables } from './tables.ts'

export interface DiagnosingParts {
  readonly database: SqlDatabase
  readonly schema: SchemaUpkeep
  readonly clock: Clock
}

const migrate = 'Run: npx treadle migrate'

export function schemaCheck({ schema }: DiagnosingParts): Check {
  return { name: 'schema', look: async () => judgeVersion(await schema.state(), schema.latest) }
}

/** `nowMs` is the engine's word for the time in milliseconds. */
export function clockCheck({ database, clock }: DiagnosingParts, nowMs: string): Check {
  return {
    name: 'clock',
    async look() {
      const before = clock.now()
      const [row] = await database.all<{ now: number }>(`SELECT ${nowMs} AS now`)
      const middle = before + (clock.now() - before) / 2
      return judgeClock(Math.round((row?.now ?? middle) - middle))
    },
  }
}

/** What should be there and is not. */
export function judgeMissing(expected: readonly string[], found: ReadonlySet<string>, what: string): Judgement {
  if (found.size === 0) return problem('there are none', migrate)
  const missing = expected.filter((name) => !found.has(name))
  if (missing.length === 0) return well(`all ${expected.length} are there`)
  const advice = `Make the ${what} that are missing: npx treadle migrate --plan prints how, against an empty database.`
  return problem(`missing: ${missing.join(', ')}`, advice)
}

export const tableNames: readonly string[] = Object.keys(tables)

const noticeableMinutes = 5
const harmfulMinutes = 60

export interface LongTransaction {
  readonly minutes: number
  readonly who: string
}

/** They keep the rows alive that others have replaced or deleted since, and every claim has to read past those. */
export function judgeTransactions([longest, ...others]: readonly LongTransaction[]): Judgement {
  if (longest === undefined || longest.minutes < noticeableMinutes) return well(`none for more than ${noticeableMinutes} minutes`)
  const more = others.filter(({ minutes }) => minutes >= noticeableMinutes).length
  const found = `one for ${longest.minutes} minutes (${longest.who})${more === 0 ? '' : `, and ${more} more`}`
  const advice = 'End it, or let its program commit more often: until then deleted rows stay, and claims become slower.'
  return longest.minutes < harmfulMinutes ? warning(found, advice) : problem(found, advice)
}
