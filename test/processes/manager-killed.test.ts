import { chmodSync, existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { JobServer } from '../manager/job-server.ts'
import { isAlive } from './alive.ts'
import { endPrograms, eventually, startProgram } from './program.ts'

describe.skipIf(process.platform === 'win32')('a manager that is killed', () => {
  afterEach(endPrograms)

  test('leaves none of its programs, nor what they started', async () => {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), 'treadle-managed-')))
    const server = await JobServer.start()
    const program = (name: string, script: string) => {
      writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`)
      chmodSync(join(folder, name), 0o755)
    }
    // One that forks and waits, one that ignores all that can be ignored, and one that has ended and left something behind.
    program('Forks', `sleep 600 & echo $! > ${folder}/forked; echo $$ > ${folder}/forks; wait`)
    program('Ignores', `trap '' TERM INT HUP; echo $$ > ${folder}/ignores; while :; do sleep 600; done`)
    const pids = ['forked', 'forks', 'ignores']
    const manager = startProgram('manager', { port: server.port, workers: folder })
    server.add('Forks')
    server.add('Ignores')
    const pidIn = (name: string) => (existsSync(join(folder, name)) ? Number(readFileSync(join(folder, name), 'utf8')) : 0)
    await eventually('all programs run', () => pids.every((name) => pidIn(name) > 0))
    const running = pids.map(pidIn)
    expect(running.every(isAlive)).toBe(true)
    await manager.kill()
    await eventually('all programs are gone', () => !running.some(isAlive))
    rmSync(folder, { recursive: true })
  })
})
