import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { npm } from '../scripts/npm.mjs'
import { type Block, blocksOf, matchesLoosely } from './docs/blocks.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const page = 'docs/getting-started.md'
const folder = realpathSync(mkdtempSync(join(tmpdir(), 'treadle-start-')))
const steps = blocksOf(page, readFileSync(join(root, page), 'utf8')).filter(({ settings }) => !('no-run' in settings))

/** The folder that the reader's terminal is in. */
let place = folder

beforeAll(() => {
  // What the reader has after the page's first commands: the package, in the clone. Built already: a build would disturb other tests.
  mkdirSync(join(folder, 'treadle'))
  const packed = npm(['pack', '--ignore-scripts', '--pack-destination', join(folder, 'treadle')], { cwd: root, stdio: 'pipe' })
  if (packed.status !== 0) throw new Error(`npm pack failed:\n${packed.stderr}`)
})

afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }))

describe('the page "Getting started" works word for word in an empty folder', () => {
  test.each(steps.map((step) => [titleOf(step), step] as const))('%s', async (_, step) => {
    if (step.settings.file !== undefined) return writeStep(step.settings.file, step)
    const { exit, output } = await typeIn(step)
    expect(exit, output).toBe(0)
    if (step.output !== null) expect(matchesLoosely(output, step.output), output).toBe(true)
  })
})

function titleOf({ settings, code }: Block): string {
  return settings.file ?? code.replaceAll('\n', ' && ')
}

function writeStep(path: string, { code }: Block): void {
  mkdirSync(dirname(join(place, path)), { recursive: true })
  writeFileSync(join(place, path), `${code}\n`)
}

/** Runs the commands as a terminal does: they share the folder, and Ctrl-C reaches all processes that they have started. */
function typeIn(step: Block): Promise<{ readonly exit: number | null; readonly output: string }> {
  const stopAfter = step.settings['stop-after']
  const said = join(folder, 'place')
  const script = `exec 2>&1\n${step.code}\npwd > "${said}"`
  const child = spawn('bash', ['-euo', 'pipefail', '-c', script], { cwd: place, env: environment(), detached: true })
  const terminal = child.pid
  if (terminal === undefined) throw new Error('bash could not be started')
  let output = ''
  let stopped = false
  child.stdout.on('data', (chunk) => {
    output += chunk
    if (stopAfter === undefined || stopped || !output.includes(stopAfter)) return
    stopped = true
    process.kill(-terminal, 'SIGINT')
  })
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => {
      if (code === 0 && !stopped) place = readFileSync(said, 'utf8').trim()
      // A shell that was interrupted together with its program ends by the signal.
      resolve({ exit: stopped ? 0 : code, output })
    })
  })
}

/** Without what npm and the test runner tell their own processes. */
function environment(): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(
    ([name]) => !/^(npm_package|npm_lifecycle|TREADLE_|VITEST|NODE_ENV|NODE_OPTIONS|FORCE_COLOR|INIT_CWD)/.test(name),
  )
  const quiet = { NO_COLOR: '1', npm_config_audit: 'false', npm_config_fund: 'false', npm_config_prefer_offline: 'true' }
  return { ...Object.fromEntries(inherited), ...quiet }
}
