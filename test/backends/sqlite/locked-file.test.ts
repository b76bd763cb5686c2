import { spawnSync } from 'node:child_process'
import { setImmediate } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { treadle } from 'treadle'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { connect, scratchFolder } from '../../processes/database.ts'
import { settled } from '../../processes/settled.ts'

const command = fileURLToPath(new URL('../../../dist/cli/main.js', import.meta.url))

function queueInFile(warn: (message: string) => void = () => {}) {
  const folder = scratchFolder()
  const path = folder.file('jobs.db')
  const jobs = treadle(`sqlite:${path}`, { logger: { debug() {}, info() {}, warn, error() {} } })
  onTestFinished(async () => {
    await jobs.close()
    folder.remove()
  })
  return { folder: folder.path, path, jobs, mail: jobs.define('mail', async () => {}) }
}

/** Keeps all others from writing until the test has finished, or `unlock` is called. */
function locked(path: string): { unlock(): void } {
  const other = connect(path)
  onTestFinished(() => other.close())
  other.exec('BEGIN IMMEDIATE')
  return { unlock: () => other.exec('ROLLBACK') }
}

describe('a SQLite file that another program keeps locked', () => {
  test('makes a call that waits for it say so meanwhile, and succeed once it is unlocked', async () => {
    const warnings: string[] = []
    const { path, mail } = queueInFile((message) => warnings.push(message))
    await mail.dispatch()
    const { unlock } = locked(path)
    const run = mail.dispatch()
    await vi.waitFor(() => expect(warnings).toEqual([`${path} is locked by another program: waiting for up to 30s`]), {
      timeout: 60_000,
    })
    unlock()
    expect(await (await run).state()).toBe('ready')
  })

  test('stays readable for others after the database thread of a queue in the same program has ended', async () => {
    const { folder, path, jobs, mail } = queueInFile()
    await mail.dispatch()
    // From then on, a commit is checked by looking into the index of the log.
    await settled(folder)
    for (let commit = 0; commit < 4; commit++) {
      const { unlock } = locked(path)
      // A call that has to wait is left to the thread.
      const run = mail.dispatch()
      for (let turn = 0; turn < 100; turn++) await setImmediate()
      unlock()
      await run
    }
    await jobs.close()
    locked(path)
    const { status, stderr } = spawnSync(process.execPath, [command, 'status', '--url', `sqlite:${path}`], { encoding: 'utf8' })
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  })
})
