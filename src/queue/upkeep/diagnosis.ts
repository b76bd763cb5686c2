import { messageOf, TreadleError } from '../../core/errors.ts'
import type { SchemaState } from './migration.ts'

/** A warning deserves attention; a problem makes the queue slow, wrong or less durable than it should be. */
export type Verdict = 'ok' | 'warning' | 'problem'

export interface Judgement {
  readonly verdict: Verdict
  readonly found: string
  /** What to do; null if nothing needs to be done. */
  readonly advice: string | null
}

/** The result of one check of the database. */
export interface Finding extends Judgement {
  readonly check: string
}

/** What to check of a database, by the name of each check. */
export type Checks<Parts> = Readonly<Record<string, (parts: Parts) => Judgement | Promise<Judgement>>>

export function well(found: string): Judgement {
  return { verdict: 'ok', found, advice: null }
}

export function warning(found: string, advice: string): Judgement {
  return { verdict: 'warning', found, advice }
}

export function problem(found: string, advice: string): Judgement {
  return { verdict: 'problem', found, advice }
}

/** Runs the checks one after the other. A check that fails is reported and does not stop the others. */
export async function runChecks<Parts>(parts: Parts, checks: Checks<Parts>): Promise<readonly Finding[]> {
  const findings: Finding[] = []
  for (const [check, judge] of Object.entries(checks)) {
    const judged = (async () => judge(parts))()
    findings.push({ check, ...(await judged.catch(unseen)) })
  }
  return findings
}

/** Missing permission to run a check is not a fault of the database, so it is only a warning. */
function unseen(thrown: unknown): Judgement {
  const found = `could not be checked: ${messageOf(thrown)}`
  const isDenied = thrown instanceof TreadleError && thrown.code === 'DATABASE_DENIED'
  return isDenied ? warning(found, 'Run it as a user who has access.') : problem(found, 'Fix what it says, and run it again.')
}

/** Judges settings by the values that are acceptable for each. */
export function judgeSettings(
  settings: readonly { readonly name: string; readonly value: string; readonly sound: readonly string[] }[],
  advice: string,
): Judgement {
  const wrong = settings.filter(({ value, sound }) => !sound.includes(value.toLowerCase()))
  const said = (wrong.length === 0 ? settings : wrong).map(({ name, value }) => `${name} = ${value}`).join(', ')
  return wrong.length === 0 ? well(said) : problem(said, advice)
}

/** With fewer free connections than this, or a smaller share of all, programs may soon get none. */
const fewConnections = 10
const smallShare = 0.1

export function judgeConnections(used: number, most: number): Judgement {
  const left = most - used
  const found = `${used} of ${most} in use`
  if (left >= fewConnections && left >= most * smallShare) return well(found)
  const advice = 'Raise max_connections, put a pooler before the server, or have programs open fewer: ?connections=2 in the URL.'
  return left <= 0 ? problem(found, advice) : warning(found, advice)
}

const noticeableSkewMs = 1_000
const harmfulSkewMs = 5_000

/** `aheadMs`: how far the server's clock is ahead of the program's. */
export function judgeClock(aheadMs: number): Judgement {
  const skewMs = Math.abs(aheadMs)
  const found = `the server's clock is ${skewMs} ms ${aheadMs < 0 ? 'behind' : 'ahead'}`
  const advice =
    "Keep the clocks of all machines in step (NTP): leases, rates and delays go by the server's clock, but the instants that a program computes are off by as much."
  if (skewMs < noticeableSkewMs) return well(found)
  return skewMs < harmfulSkewMs ? warning(found, advice) : problem(found, advice)
}

/** Judges the schema version; `latest` is the newest that this program knows. */
export function judgeVersion({ version, compatibleFrom }: SchemaState, latest: number): Judgement {
  const found = `version ${version}`
  if (version === latest) return well(found)
  if (version < latest) return problem(`${found}, and ${latest} is needed`, 'Run: npx treadle migrate')
  if (compatibleFrom > latest) return problem(`${found}, and this Treadle knows up to ${latest}`, 'Update the package.')
  return warning(`${found}, newer than this Treadle's ${latest}`, 'Update the package when all workers can be updated.')
}
