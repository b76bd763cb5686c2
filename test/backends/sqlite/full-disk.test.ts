import { treadle } from 'treadle'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { faultsOf, rowsIn, scratchFolder } from '../../processes/database.ts'
import { endPrograms, startProgram } from '../../processes/program.ts'

interface Refused {
  readonly name: string
  readonly code: string
  readonly message: string
  readonly stored: number
}

describe('a disk that is full', () => {
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

  // The last one is larger than SQLite's cache: it is written out, and fails, in the middle of its transaction.
  test.each([
    { perCall: 1, bytes: 10_000, why: 'a small send' },
    { perCall: 100, bytes: 1_000, why: 'a large send' },
    { perCall: 1_000, bytes: 20_000, why: 'a send larger than the cache' },
  ])('is told to who dispatches, for $why, and leaves every acknowledged job and nothing else', async ({ perCall, bytes }) => {
    const program = startProgram('full-disk', { path, perCall, bytes }, { prefix: limitedTo8MB })
    const refused = JSON.parse((await program.line('refused')).slice('refused '.length)) as Refused
    await program.ended

    expect(refused).toMatchObject({ name: 'TreadleError', code: 'DATABASE_UNWRITABLE' })
    expect(refused.message).toMatch(/free space/i)
    expect(faultsOf(path)).toEqual([])
    expect(rowsIn(path)).toBe(refused.stored)
    const jobs = treadle(`sqlite:${path}`)
    try {
      await jobs.declare('count').dispatch('there is room again')
      expect(rowsIn(path)).toBe(refused.stored + 1)
    } finally {
      await jobs.close()
    }
  })
})

const limitedTo8MB = ['bash', '-c', 'ulimit -f 8192; exec "$@"', 'limited']
