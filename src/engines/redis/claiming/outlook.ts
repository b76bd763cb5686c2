import { scriptEvenWhenFull } from '../connections/script.ts'
import type { RedisServer } from '../connections/server.ts'
import { indexes } from '../scripts/indexes.ts'

/**
 * Maximum number of open lanes that are read together, whatever their names. If there are more, only the wanted ones are read.
 */
export const mostLanes = 256

/** What a claim finds: what has to be done before it, and which lanes are open. */
export interface Outlook {
  readonly expiresAt: number | null
  readonly dueAt: number | null
  readonly givesUpAt: number | null
  readonly releasedAt: number | null
  readonly paused: ReadonlySet<string>
  /** Jobs of the owner that were asked to stop. */
  readonly stopped: readonly string[]
  /** Null if there are too many of them. */
  readonly lanes: readonly string[] | null
}

const outlookScript = scriptEvenWhenFull(`
${indexes}
local now, owner, most = ARGV[1], ARGV[2], tonumber(ARGV[3])
releaseGroups(now)
openLanes()
local function first(key) return call('ZRANGE', P .. key, 0, 0, 'WITHSCORES')[2] or '' end
local lanes = call('ZCARD', P .. 'open') <= most and call('ZRANGE', P .. 'open', 0, -1) or ''
return { first('run'), first('due'), first('waits'), first('gh'), call('HKEYS', P .. 'paused'),
  call('ZRANGE', P .. 'stop:' .. owner, 0, -1), lanes }
`)

/** Also readmits groups that have tokens again. */
export async function outlookOf(server: RedisServer, now: number, owner: string): Promise<Outlook> {
  const answer = (await server.run(outlookScript, [now, owner, mostLanes])) as [
    string,
    string,
    string,
    string,
    string[],
    string[],
    string[] | '',
  ]
  const [expiresAt, dueAt, givesUpAt, releasedAt, paused, stopped, lanes] = answer
  return {
    expiresAt: timeOf(expiresAt),
    dueAt: timeOf(dueAt),
    givesUpAt: timeOf(givesUpAt),
    releasedAt: timeOf(releasedAt),
    paused: new Set(paused),
    stopped,
    lanes: lanes === '' ? null : lanes,
  }
}

function timeOf(text: string): number | null {
  if (text === '-inf') return Number.NEGATIVE_INFINITY
  const at = text === '' ? null : Number(text)
  // A time that never comes is not worth waiting for.
  return Number.isFinite(at) ? at : null
}
