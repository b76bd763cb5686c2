import { execFileSync } from 'node:child_process'
import {
  copyFileSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type SqliteConnection, type Treadle, treadle } from 'treadle'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { connect, execute, query, rowsIn, scratchFolder } from '../../processes/database.ts'
import { settled } from '../../processes/settled.ts'

let folder: ReturnType<typeof scratchFolder>
let path: string
let jobs: Treadle
const replaced = { name: 'TreadleError', code: 'DATABASE_REPLACED' }

beforeEach(() => {
  folder = scratchFolder()
  mkdirSync(folder.file('queue'))
  path = folder.file('queue/jobs.db')
  jobs = treadle(`sqlite:${path}`)
})
afterEach(async () => {
  await jobs.close()
  folder.remove()
})

/** A queue file with one job in it, at another place. */
async function anotherQueue(): Promise<string> {
  const other = folder.file('other.db')
  const others = treadle(`sqlite:${other}`)
  await others.declare('mail').dispatch('of another queue')
  await others.close()
  execute(other, 'PRAGMA wal_checkpoint(TRUNCATE)')
  // SQLite knows files by their inode, and this one was open in this process.
  copyFileSync(other, `${other}.copy`)
  return `${other}.copy`
}

const losses: readonly (readonly [what: string, lose: () => void | Promise<void>])[] = [
  ['deleted', () => rmSync(path)],
  ['deleted with its log', deleteAll],
  ['moved', () => renameSync(path, `${path}.away`)],
  ['moved, with a link in its place', () => moveAndLink()],
  ['moved to another folder, with a link in its place', () => moveAndLink(folder.file('elsewhere.db'))],
  ['replaced by another queue', async () => renameSync(await anotherQueue(), path)],
  ['lost with its folder', () => rmSync(folder.file('queue'), { recursive: true })],
  ['put aside with its folder, and made anew', putFolderAside],
  ['truncated to nothing', () => truncateSync(path, 0)],
  ['truncated to a part', truncateToHalf],
  ['with a truncated log', () => truncateSync(`${path}-wal`, 0)],
  ['with half of its log', () => truncateSync(`${path}-wal`, Math.floor(statSync(`${path}-wal`).size / 2))],
  ['with a log that was overwritten', () => writeFileSync(`${path}-wal`, Buffer.alloc(2 * statSync(`${path}-wal`).size))],
  ['with a log that was replaced', replaceLog],
  ['without its log', () => rmSync(`${path}-wal`)],
  ['without the index of its log', () => rmSync(`${path}-shm`)],
]

/** Others who follow the link look for the log beside the file that it names. */
function moveAndLink(to = `${path}.away`): void {
  renameSync(path, to)
  symlinkSync(to, path)
}

/** SQLite itself stumbles over what is missing before anybody else looks. */
function truncateToHalf(): void {
  execute(path, 'PRAGMA wal_checkpoint(TRUNCATE)')
  truncateSync(path, 4_096 * Math.floor(statSync(path).size / 8_192))
}

function replaceLog(): void {
  copyFileSync(`${path}-wal`, `${path}-wal.copy`)
  renameSync(`${path}-wal.copy`, `${path}-wal`)
}

function deleteAll(): void {
  for (const ending of ['', '-wal', '-shm']) rmSync(`${path}${ending}`)
}

function putFolderAside(): void {
  renameSync(folder.file('queue'), folder.file('aside'))
  mkdirSync(folder.file('queue'))
}

/** Which locks this process has on the file, as Linux lists them: `1: POSIX  ADVISORY  READ 4711 00:1a:815 …`. */
function locksOn(file: string): number {
  const owned = new RegExp(` ${process.pid} \\S+:${statSync(file).ino} `)
  return readFileSync('/proc/locks', 'utf8')
    .split('\n')
    .filter((line) => owned.test(line)).length
}

describe.skipIf(process.platform !== 'linux')('a file that is looked at while it is open', () => {
  test('stays locked: another program that closes it would take itself for the last one, and delete the log', async () => {
    const mail = jobs.declare('mail')
    await mail.dispatchMany(payloads(300))
    expect(locksOn(path)).toBeGreaterThan(0)
    // So that the file itself is written to, and its content is looked at.
    execute(path, 'PRAGMA wal_checkpoint(TRUNCATE)')
    await mail.dispatchMany(payloads(300))
    await mail.dispatch('at last')
    expect(locksOn(path)).toBeGreaterThan(0)
  })
})

describe('a file that is lost under a program that has it open', () => {
  test.each(losses)('%s: no dispatch is acknowledged, small or large', async (_, lose) => {
    const mail = jobs.declare('mail')
    await mail.dispatch('before')
    await mail.dispatchMany(payloads(300))
    await lose()
    await expect(mail.dispatch('small')).rejects.toMatchObject(replaced)
    await expect(mail.dispatchMany(payloads(300))).rejects.toMatchObject(replaced)
    await expect(mail.dispatch('again')).rejects.toMatchObject(replaced)
  })

  test.each(losses)('%s, in a folder that had long been the same: no dispatch is acknowledged', async (_, lose) => {
    const mail = jobs.declare('mail')
    await mail.dispatchMany(payloads(300))
    await settled(folder.file('queue'))
    await mail.dispatch('both threads have seen the folder')
    await mail.dispatchMany(payloads(300))
    await lose()
    await expect(mail.dispatch('small')).rejects.toMatchObject(replaced)
    await expect(mail.dispatchMany(payloads(300))).rejects.toMatchObject(replaced)
    await expect(mail.dispatch('again')).rejects.toMatchObject(replaced)
  })

  test.each(losses)('%s: a dispatch that is the first call of the database thread is refused too', async (_, lose) => {
    const mail = jobs.declare('mail')
    await mail.dispatch('before')
    await lose()
    await expect(mail.dispatchMany(payloads(300))).rejects.toMatchObject(replaced)
  })

  test.each(losses)('%s: a worker says so and ends', async (_, lose) => {
    const told: unknown[] = []
    jobs.on('worker:error', ({ error }) => told.push(error))
    const mail = jobs.define('mail', async () => 'sent')
    const working = jobs.work({ poll: 50, signals: false })
    const ended = expect(working).rejects.toMatchObject(replaced)
    await (await mail.dispatch()).result()
    await lose()
    await ended
  })

  test.each(losses)("%s: a caller's transaction cannot be joined", async (_, lose) => {
    const mail = jobs.declare('mail')
    await mail.dispatch('before')
    const connection = connect(path) as SqliteConnection & ReturnType<typeof connect>
    connection.exec('BEGIN IMMEDIATE')
    await lose()
    await expect(Promise.resolve().then(() => mail.dispatch('joined', { in: connection }))).rejects.toMatchObject(replaced)
    connection.exec('ROLLBACK')
    connection.close()
  })

  test('what was in a log that was deleted alone is safe in the file', async () => {
    const mail = jobs.declare('mail')
    for (let n = 0; n < 20; n++) await mail.dispatch(n)
    rmSync(`${path}-wal`)
    await expect(mail.dispatch('refused')).rejects.toMatchObject(replaced)
    const after = treadle(`sqlite:${path}`)
    await after.close()
    expect(rowsIn(path)).toBeGreaterThanOrEqual(20)
  })

  test.each(['half', 'nothing'])(
    'a log that was truncated to %s does not spoil the file, which keeps what was copied into it',
    (left) => {
      const program = fileURLToPath(new URL('./truncated-log.mjs', import.meta.url))
      expect(execFileSync(process.execPath, [program, path, left], { encoding: 'utf8' })).toBe('DATABASE_REPLACED\n')
      expect(query(path, 'PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }])
      expect(rowsIn(path)).toBeGreaterThanOrEqual(left === 'half' ? 550 : 500)
    },
  )

  test('a file that is back where it was is used again', async () => {
    const mail = jobs.declare('mail')
    await mail.dispatch('before')
    putFolderAside()
    await expect(mail.dispatch('refused')).rejects.toMatchObject(replaced)
    const refused = mail.dispatch('refused and not stored')
    await expect(refused).rejects.toMatchObject(replaced)
    rmSync(folder.file('queue'), { recursive: true })
    renameSync(folder.file('aside'), folder.file('queue'))
    await mail.dispatch('after')
    const stored = query<{ payload: string }>(path, 'SELECT payload FROM treadle_jobs').map(({ payload }) => payload)
    expect(stored).not.toContain('"refused and not stored"')
    expect(stored).toContain('"after"')
  })

  test('a new queue in its place keeps what it has when the program that had the old one closes', async () => {
    await jobs.declare('mail').dispatch('old')
    renameSync(await anotherQueue(), path)
    for (const ending of ['-wal', '-shm']) rmSync(`${path}${ending}`)
    const fresh = treadle(`sqlite:${path}`)
    const mail = fresh.declare('mail')
    await mail.dispatch('new')
    await jobs.close()
    await mail.dispatch('newer')
    await fresh.close()
    expect(rowsIn(path)).toBe(3)
  })

  test('an older copy that is written over it is noticed', async () => {
    const mail = jobs.declare('mail')
    await mail.dispatch('in the copy')
    execute(path, 'PRAGMA wal_checkpoint(TRUNCATE)')
    copyFileSync(path, folder.file('backup.db'))
    await mail.dispatchMany(payloads(2_000))
    const reader = connect(path)
    reader.exec('PRAGMA wal_checkpoint(TRUNCATE)')
    reader.close()
    await mail.dispatch('seen')
    copyFileSync(folder.file('backup.db'), path)
    await expect(mail.dispatch('refused')).rejects.toMatchObject({ ...replaced, message: expect.stringContaining('older copy') })
    await expect(mail.dispatchMany(payloads(300))).rejects.toMatchObject({ code: expect.stringMatching(/^DATABASE_/) })
  })

  test('checkpoints, a changed folder of the program and a touched file are no losses', async () => {
    const mail = jobs.declare('mail')
    for (let round = 0; round < 5; round++) {
      await mail.dispatchMany(payloads(500))
      execute(path, 'PRAGMA wal_checkpoint(TRUNCATE)')
      await mail.dispatch(round)
    }
    execute(path, 'DELETE FROM treadle_jobs WHERE state > 8; VACUUM; PRAGMA wal_checkpoint(TRUNCATE)')
    await mail.dispatch('after')
    expect(rowsIn(path)).toBe(2_506)
  })

  test('a checkpoint that a reader keeps from copying the last pages is no loss', async () => {
    const mail = jobs.declare('mail')
    await mail.dispatch('before')
    execute(path, 'CREATE TABLE filler (text); PRAGMA wal_checkpoint(TRUNCATE)')
    await mail.dispatch('seen')
    execute(
      path,
      'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500) INSERT INTO filler SELECT hex(zeroblob(500)) FROM n',
    )
    const reader = connect(path)
    reader.exec('BEGIN')
    reader.prepare('SELECT count(*) FROM filler').all()
    // All pages of the table are changed again, and no page is new, so the header is not: the header alone is copied.
    execute(path, "UPDATE filler SET text = replace(text, '0', '1'); PRAGMA wal_checkpoint(PASSIVE)")
    await mail.dispatch('while pages are missing')
    reader.exec('COMMIT')
    reader.close()
    await mail.dispatch('after')
    expect(rowsIn(path)).toBe(4)
  })
})

function payloads(count: number): readonly string[] {
  return Array.from({ length: count }, (_, n) => `${n} ${'.'.repeat(200)}`)
}
