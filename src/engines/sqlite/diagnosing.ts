import { statSync } from 'node:fs'
import { access, constants, statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import { processUser } from '../../core/process/environment.ts'
import { type Finding, type Judgement, judgeVersion, problem, runChecks, warning, well } from '../../queue/upkeep/diagnosis.ts'
import type { Connection } from './file/connection.ts'
import { latestVersion, schemaState } from './schema/migrating.ts'

type Use = <Answer>(work: (connection: Connection) => Answer) => Answer

/** `expected` returns the names of the tables and indexes of a new file. */
export function diagnoseSqlite(path: string, use: Use, expected: () => readonly string[]): Promise<readonly Finding[]> {
  const value = (sql: string, column: string) =>
    use((connection) => {
      const row = connection.read(() => connection.prepare(sql).get()) as Readonly<Record<string, unknown>> | undefined
      return String(row?.[column])
    })
  return runChecks(path, {
    library: () => well(`SQLite ${value('SELECT sqlite_version() AS version', 'version')}`),
    schema: () => judgeVersion(use(schemaState), latestVersion),
    'tables and indexes': () => judgeObjects(expected(), new Set(use(objectNames))),
    journal: () => judgeJournal(value('PRAGMA journal_mode', 'journal_mode')),
    integrity: () => judgeIntegrity(value('PRAGMA quick_check(1)', 'quick_check')),
    log: () => judgeLog(sizeOf(`${path}-wal`)),
    rights: judgeRights,
    disk: () => judgeDisk(dirname(path)),
  })
}

/** Only the queue's own objects: the file may also hold tables of other programs. */
export function objectNames(connection: Connection): readonly string[] {
  const found = connection.prepare("SELECT name FROM sqlite_schema WHERE name LIKE 'treadle\\_%' ESCAPE '\\'")
  return connection.read(() => found.all() as { name: string }[]).map(({ name }) => name)
}

function judgeObjects(expected: readonly string[], found: ReadonlySet<string>): Judgement {
  const missing = expected.filter((name) => !found.has(name))
  if (missing.length === 0) return well(`all ${expected.length} are there`)
  const advice = 'If the schema is out of date, npx treadle migrate creates them; otherwise they were removed by another program.'
  return problem(`missing: ${missing.join(', ')}`, advice)
}

function judgeJournal(mode: string): Judgement {
  const advice = 'The queue sets WAL when it opens the file. A file on a network drive cannot have it: put it on a local disk.'
  return mode === 'wal' ? well('write-ahead log') : problem(`journal_mode = ${mode}`, advice)
}

function judgeIntegrity(answer: string): Judgement {
  return answer === 'ok' ? well('sound') : problem(answer, 'Restore the file from a backup.')
}

const megabyte = 1024 * 1024
const largeLog = 256 * megabyte

function judgeLog(bytes: number): Judgement {
  const found = `${Math.ceil(bytes / megabyte)} MB beside the file`
  const advice = 'A program reads in one transaction for too long, so that the log cannot be written back. Find it and end it.'
  return bytes < largeLog ? well(found) : warning(found, advice)
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0
}

async function judgeRights(path: string): Promise<Judgement> {
  try {
    await access(path, constants.R_OK | constants.W_OK)
    await access(dirname(path), constants.W_OK)
    return judgeOthers(path)
  } catch {
    const advice = 'Give this user the right to write both: the log is a file beside the database.'
    return problem('the file or its folder may not be written', advice)
  }
}

/** New files are created readable and writable by their owner only; older ones got the system's default permissions. */
function judgeOthers(path: string): Judgement {
  const open = ['', '-wal', '-shm', '.wake', '.key']
    .map((ending) => `${path}${ending}`)
    .filter((file) => (modeOf(file) & 0o002) !== 0)
  if (processUser() === undefined || open.length === 0) return well('the file and its folder may be written')
  return warning(`everybody may write ${open.join(', ')}`, `Run: chmod go= ${open.join(' ')}`)
}

function modeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mode ?? 0
}

const littleSpace = 500 * megabyte

async function judgeDisk(folder: string): Promise<Judgement> {
  const { bavail, bsize } = await statfs(folder)
  const found = `${Math.floor((bavail * bsize) / megabyte)} MB free`
  return bavail * bsize < littleSpace ? warning(found, 'Free some space: without any, jobs are refused.') : well(found)
}
