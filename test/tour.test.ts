import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, test } from 'vitest'

const root = fileURLToPath(new URL('..', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'treadle-tour-test-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('the tour', () => {
  test('runs every sample to its end, says what happened, tells commands that work, and ends by itself with --once', async () => {
    const { output, code } = await run(['scripts/tour.mjs', '--once', '--folder', join(folder, 'once')])
    expect(code, output).toBe(0)
    expect(output).toMatch(/^ *Dashboard: {2}http:\/\/127\.0\.0\.1:\d+\//m)
    for (const line of [
      /server +tcp {2}127\.0\.0\.1:\d+/,
      /server +http http:\/\/127\.0\.0\.1:\d+\/api\/v1/,
      /greet +done in \d+ ms/,
      /fetch-rates +failed: 503 Service Unavailable; retried in 500 ms/,
      /fetch-rates +started again: attempt 3/,
      /charge-card +dead \(permanent\): the card has expired/,
      /remind +done/,
      /render-video +done/,
      /heartbeat +queued by its schedule/,
      /This worker: \d+ succeeded, 2 retried, 1 dead\./,
    ]) {
      expect(output).toMatch(line)
    }
    expect(existsSync(join(folder, 'once/tour.db'))).toBe(true)
    await expectCommandsToWork(output)
  })

  test.each(['SIGINT', 'SIGTERM'] as const)('goes on after its samples, also without a terminal, until %s', async (signal) => {
    let answered: Promise<Response> | undefined
    const { output, code } = await run(['scripts/tour.mjs', '--folder', join(folder, signal)], (said, child) => {
      const url = /all samples have ended.* at (http:[^ ]+?)\. /.exec(said)?.[1]
      if (url === undefined) return false
      answered = fetch(url)
      void answered.finally(() => child.kill(signal)).catch(() => {})
      return true
    })
    expect(code, output).toBe(0)
    expect((await answered)?.status).toBe(200)
  })

  test('stops in an orderly way on Ctrl-C, also where it is heard twice', async () => {
    const { output, code } = await run(['scripts/tour.mjs', '--folder', join(folder, 'stopped')], (said, child) => {
      if (!/render-video +\d+ %/.test(said)) return false
      child.kill('SIGINT')
      child.kill('SIGINT')
      return true
    })
    expect(code, output).toBe(0)
    expect(output).toMatch(/Stopping: no new jobs[\s\S]*render-video +done[\s\S]*The jobs in the file/)
  })
})

describe('the example project', () => {
  test('is sound', async () => {
    const { output, code } = await run(['dist/cli/main.js', 'check', '--config', 'examples/tour/treadle.config.ts'])
    expect(code, output).toBe(0)
    expect(output).toContain('6 jobs, 1 queue, 1 schedule')
  })
})

async function expectCommandsToWork(output: string): Promise<void> {
  const commands = [...output.matchAll(/^ {2}node (dist.*)$/gm)].map(([, command = '']) => command)
  expect(commands).toHaveLength(4)
  for (const command of commands) {
    const answer = await run(command.split(' ').map((word) => word.replaceAll("'", '')))
    expect(answer, answer.output).toMatchObject({ code: 0 })
  }
}

type Child = ReturnType<typeof spawn>

/** `hear` is told all that was said so far, until it says that it has heard enough. */
function run(args: readonly string[], hear: (said: string, child: Child) => boolean = () => true) {
  return new Promise<{ readonly output: string; readonly code: number | null }>((resolve, reject) => {
    const child = spawn(process.execPath, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    let heard = false
    const listen = (chunk: Buffer) => {
      output += chunk
      if (!heard) heard = hear(output, child)
    }
    child.stdout.on('data', listen)
    child.stderr.on('data', listen)
    child.on('error', reject)
    child.on('close', (code) => resolve({ output, code }))
  })
}
