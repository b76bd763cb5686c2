import { TreadleError } from '../../../core/errors.ts'
import { type AskingLimits, ask } from './asking.ts'
import { type Charsets, charsetColumns, charsetProblems } from './charsets.ts'
import type { MysqlQueryable } from './client.ts'
import { numberOf } from './failure.ts'

/** What the queue needs to know about its server. */
export interface MysqlServer {
  readonly isMariadb: boolean
  /** Collation that compares text byte by byte, including trailing spaces. */
  readonly exactCollation: string
  /** Maximum statement length. */
  readonly maxPacketBytes: number
  /** Whether its connections accept several statements in one query. */
  readonly canCombine: boolean
}

/** Queries the server's properties. Rejects servers that are too old, and connections that would alter text or lose writes. */
export async function lookAtServer(client: MysqlQueryable, longestMs: number): Promise<MysqlServer> {
  const limits = { maxPacketBytes: Number.POSITIVE_INFINITY, longestMs }
  const [asked] = (await ask(client, question, limits)) as readonly [Asked]
  const isMariadb = /mariadb/i.test(asked.version)
  const problems = [...versionProblems(asked.version, isMariadb), ...connectionProblems(asked)]
  if (problems.length > 0) throw new TreadleError('CONFIG_INVALID', `This MySQL cannot hold a queue: ${problems.join('; ')}`)
  return {
    isMariadb,
    exactCollation: isMariadb ? 'utf8mb4_nopad_bin' : 'utf8mb4_0900_bin',
    maxPacketBytes: asked.packet,
    canCombine: await canCombine(client, limits),
  }
}

interface Asked extends Charsets {
  readonly version: string
  readonly packet: number
  readonly mode: string
  readonly autocommit: number
  readonly name: string | null
}

const question = `SELECT VERSION() AS version, @@max_allowed_packet AS packet, ${charsetColumns}, @@sql_mode AS mode,
  @@autocommit AS autocommit, DATABASE() AS name`

const syntaxError = 1064

/** Requires both the driver's option and a server, or proxy in between, that allows it. */
async function canCombine(client: MysqlQueryable, limits: AskingLimits): Promise<boolean> {
  try {
    await ask(client, 'DO 0; DO 0', limits)
    return true
  } catch (thrown) {
    if (numberOf(thrown) === syntaxError) return false
    throw thrown
  }
}

const oldestMysql = [8, 0, 17]
const oldestMariadb = [10, 6, 0]

function versionProblems(version: string, isMariadb: boolean): readonly string[] {
  // Some servers prefix their version with one that old clients understand: 5.5.5-10.11.2-MariaDB.
  const numbers = version
    .replace(/^5\.5\.5-/, '')
    .split(/[.-]/)
    .map(Number)
  const [oldest, name] = isMariadb ? [oldestMariadb, 'MariaDB'] : [oldestMysql, 'MySQL']
  const place = oldest.findIndex((number, index) => numbers[index] !== number)
  if (place === -1 || (numbers[place] ?? 0) > (oldest[place] ?? 0)) return []
  return [`it is ${name} ${version}, and ${oldest.join('.')} or newer is needed`]
}

function connectionProblems({ charset, answers, mode, autocommit, name }: Asked): readonly string[] {
  return [
    ...(name === null ? ['its URL names no database'] : []),
    ...charsetProblems({ charset, answers }).map((problem) => `the pool's charset ${problem}`),
    ...(mode.includes('NO_BACKSLASH_ESCAPES') ? ['its sql_mode must not have NO_BACKSLASH_ESCAPES'] : []),
    ...(autocommit === 0 ? ['autocommit must be on'] : []),
  ]
}
