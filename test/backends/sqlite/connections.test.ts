import { cpSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { faultsOf, query, rowsIn, scratchFolder } from '../../processes/database.ts'
import { endPrograms, type Program, startProgram } from '../../processes/program.ts'

interface SeenConnection {
  readonly isMainThread: boolean
  readonly journalMode: string
  readonly storedWith: readonly number[]
  readonly changes: number
}

const root = fileURLToPath(new URL('../../..', import.meta.url))

describe('the two connections to a SQLite file', () => {
  let folder: ReturnType<typeof scratchFolder>
  let path: string
  beforeEach(() => {
    folder = scratchFolder()
    path = folder.file('jobs.db')
  })
  afterEach(async () => {
    await endPrograms()
    folder.remove()
  })

  test('both write, in the program itself and in the thread, and both sync to disk what they store', async () => {
    const log = folder.file('connections.log')
    const [small, large] = [3, 1_000]
    const program = startProgram('small-and-large', { path, small, large }, watched(log))
    await program.success()
    expect(answer(program, 'ran')).toEqual({ runs: small + large, succeeded: small + large, inOrder: true })

    const seen = readFileSync(log, 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as SeenConnection)
    expect(seen.map(({ isMainThread }) => isMainThread).sort()).toEqual([false, true])
    for (const connection of seen) {
      const fullSync = 2
      expect(connection).toMatchObject({ journalMode: 'wal', storedWith: [fullSync] })
    }
    expect(seen.find((each) => each.isMainThread)?.changes).toBeGreaterThan(0)
    expect(seen.find((each) => !each.isMainThread)?.changes).toBeGreaterThan(large)
    expect(faultsOf(path)).toEqual([])
  })

  test('are one where the thread was left behind by a bundler: it is said once, and all works', async () => {
    const library = libraryWithoutThread()
    const [small, large] = [3, 1_000]
    const program = startProgram('small-and-large', { path, library, small, large })
    expect((await program.ended).code).toBe(0)
    expect(answer(program, 'ran')).toEqual({ runs: small + large, succeeded: small + large, inOrder: true })
    expect(program.stderr.trim().split('\n')).toEqual([expect.stringMatching(/the database thread could not be started/)])
    expect(rowsIn(path)).toBe(small + large)
    expect(faultsOf(path)).toEqual([])
  })

  test('survive the death of the thread: the calls under way fail, and a new one takes over', async () => {
    const program = startProgram('thread-killer', { path })
    await program.success()
    expect(answer(program, 'idle')).toEqual({ acknowledged: 1_000, threads: 2 })
    const { failures, threads } = answer<{ failures: { place: string; code: string }[]; threads: number }>(program, 'busy')
    expect(threads).toBe(6)
    expect(failures.filter(({ place }) => place === 'before')).toHaveLength(2)
    expect(failures.filter(({ code }) => code !== 'DATABASE_FAILED')).toEqual([])
    const { acknowledged, errors } = answer<{ acknowledged: number; errors: string[] }>(program, 'worked')
    expect(errors.filter((code) => code !== 'DATABASE_FAILED')).toEqual([])
    // A call whose answer was lost may have been committed.
    expect(rowsIn(path)).toBeGreaterThanOrEqual(acknowledged)
    expect(query(path, 'SELECT id FROM treadle_jobs WHERE state <> 4')).toEqual([])
    expect(faultsOf(path)).toEqual([])
  })

  /** A copy of the built package in which one file is missing. */
  function libraryWithoutThread(): string {
    for (const part of ['dist', 'package.json']) cpSync(`${root}/${part}`, folder.file(part), { recursive: true })
    symlinkSync(`${root}/node_modules`, folder.file('node_modules'))
    rmSync(folder.file('dist/engines/sqlite/thread/thread.js'))
    return pathToFileURL(folder.file('dist/index.js')).href
  }
})

function watched(log: string): Parameters<typeof startProgram>[2] {
  const preload = new URL('../../processes/programs/watch-connections.mjs', import.meta.url).href
  return { prefix: ['env', `CONNECTIONS_LOG=${log}`], nodeArgs: ['--import', preload] }
}

function answer<Answer = unknown>(program: Program, word: string): Answer {
  const line = program.lines.find((each) => each.startsWith(`${word} `))
  return JSON.parse((line ?? '').slice(word.length + 1)) as Answer
}
