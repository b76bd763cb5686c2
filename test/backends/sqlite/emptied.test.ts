import { copyFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { treadle } from 'treadle'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { scratchFolder } from '../../processes/database.ts'

let folder: ReturnType<typeof scratchFolder>
let path: string

beforeEach(() => {
  folder = scratchFolder()
  path = folder.file('jobs.db')
})
afterEach(() => folder.remove())

/** A queue with one job, which this program has closed. */
async function closedQueue(): Promise<void> {
  const jobs = treadle(`sqlite:${path}`)
  await jobs.declare('mail').dispatch('to somebody')
  await jobs.close()
}

/** Sends a second job, and returns how many there are then. */
async function sent(logged: string[] = []): Promise<number> {
  const warn = (text: string) => void logged.push(text)
  const jobs = treadle(`sqlite:${path}`, { logger: { debug() {}, info() {}, warn, error: warn } })
  try {
    await jobs.declare('mail').dispatch('to somebody else')
    return (await (await jobs.store()).list({ limit: 10 })).length
  } finally {
    await jobs.close()
  }
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0
}

test('after a program has closed the queue, its jobs are in the file and not in the log', async () => {
  await closedQueue()
  expect(sizeOf(`${path}-wal`)).toBe(0)
  expect(sizeOf(path)).toBeGreaterThan(4_096)
})

test('a program that closes the queue beside others leaves them what they work with', async () => {
  const others = treadle(`sqlite:${path}`)
  const mail = others.declare('mail')
  await mail.dispatch('to somebody')
  await closedQueue()
  await mail.dispatch('to a third')
  expect(await (await others.store()).list({ limit: 10 })).toHaveLength(3)
  await others.close()
  expect(await sent()).toBe(4)
})

const corrupt = { name: 'TreadleError', code: 'DATABASE_CORRUPT' }

/** What SQLite and programs that were killed may leave beside the file. */
const remains: Record<string, readonly string[]> = {
  'its log': ['-wal'],
  'the index of its log': ['-shm'],
  'its log and the index': ['-wal', '-shm'],
  nothing: [],
}

/** A queue that was copied while a program worked with it, as a machine without power leaves it. */
async function queueWith(endings: readonly string[]): Promise<void> {
  const original = folder.file('original.db')
  const jobs = treadle(`sqlite:${original}`)
  await jobs.declare('mail').dispatch('to somebody')
  for (const ending of ['', ...endings]) copyFileSync(`${original}${ending}`, `${path}${ending}`)
  await jobs.close()
}

for (const [name, endings] of Object.entries(remains)) {
  for (const bytes of endings.length === 0 ? [1, 99] : [0, 1, 99]) {
    test(`a file that was cut to ${bytes} bytes, with ${name} beside it, is refused`, async () => {
      await queueWith(endings)
      truncateSync(path, bytes)
      await expect(sent()).rejects.toMatchObject(corrupt)
      expect(sizeOf(path)).toBe(bytes)
      if (endings.includes('-wal')) expect(sizeOf(`${path}-wal`)).toBeGreaterThan(0)
    })
  }
}

for (const bytes of [100, 512, 4_096, 8_192]) {
  test(`a file that was closed and then cut to ${bytes} bytes is refused`, async () => {
    await closedQueue()
    truncateSync(path, bytes)
    await expect(sent()).rejects.toMatchObject(corrupt)
  })
}

test('a file that was closed and then cut to nothing is refused while SQLite has it open, without waiting for it', async () => {
  await queueWith([])
  const others = treadle(`sqlite:${path}`)
  await (await others.store()).list({ limit: 1 })
  truncateSync(path, 0)
  await expect(sent()).rejects.toMatchObject(corrupt)
  await others.close()
})

test('an empty file that was a queue begins as a new one, with a warning', async () => {
  writeFileSync(path, '', { mode: 0o600 })
  writeFileSync(`${path}.wake`, '.', { mode: 0o600 })
  const logged: string[] = []
  expect(await sent(logged)).toBe(1)
  expect(logged).toEqual([expect.stringContaining('begins as a new, empty queue: it is empty')])
})

test('a missing file whose log is there begins as a new queue, with a warning', async () => {
  await queueWith(['-wal'])
  rmSync(path)
  const logged: string[] = []
  expect(await sent(logged)).toBe(1)
  expect(logged).toEqual([expect.stringContaining('begins as a new, empty queue: it is missing')])
})

test('an empty file that nothing has used is a new queue', async () => {
  writeFileSync(path, '', { mode: 0o600 })
  const logged: string[] = []
  expect(await sent(logged)).toBe(1)
  expect(logged).toEqual([])
})
