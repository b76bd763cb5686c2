import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { npm } from '../../../scripts/npm.mjs'
import { freshDatabase } from '../../services.ts'
import { Example, PackedPackage } from '../example.ts'

let packed: PackedPackage
beforeAll(() => {
  packed = new PackedPackage()
})
afterAll(() => packed[Symbol.dispose]())

/** Bun's program, which its package holds for this platform; why it cannot be had, where it cannot. */
function bunOf(folder: string): { readonly bun: string } | { readonly problem: string } {
  if (`${process.platform}-${process.arch}` !== 'linux-x64') return { problem: 'Bun is fetched for linux-x64 only' }
  mkdirSync(folder)
  writeFileSync(join(folder, 'package.json'), '{ "private": true }')
  const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--no-package-lock', '--loglevel=error']
  const { status, stderr } = npm(['install', ...flags, '@oven/bun-linux-x64'], { cwd: folder, stdio: 'pipe', encoding: 'utf8' })
  if (status !== 0) return { problem: `Bun cannot be installed here: ${String(stderr).trim()}` }
  return { bun: join(folder, 'node_modules/@oven/bun-linux-x64/bin/bun') }
}

test('on Bun a project of "treadle init" is installed and tested, and its job is dispatched and run on SQLite', async ({
  skip,
}) => {
  const found = bunOf(join(packed.folder, 'bun'))
  if ('problem' in found) return skip(found.problem)
  const { bun } = found
  const project = new Example(packed, 'my-app', { 'package.json': '{}' })
  onTestFinished(() => project.end())
  const main = 'node_modules/treadle/dist/cli/main.js'
  await project.run(bun, ['add', packed.path])
  expect(await project.run(bun, [main, 'init', '--yes', '--language', 'typescript'])).toContain('created jobs/hello.ts')
  await project.run(bun, ['install'])
  expect(await project.run(bun, ['test'])).toContain('1 pass')
  expect(await project.run(bun, ['app.ts'])).toContain('queued hello')
  expect(await project.run(bun, [main, 'run', '--no-scheduler'])).toBe('Hello, Ada!\n1 succeeded\n')
  expect(await project.run(bun, [main, 'check'])).toContain('✓ 2 jobs, 1 queue, 1 schedule')
})

/** What a program of many parts does, with a handler that must be killed. */
const program = `
import { treadle } from 'treadle'
import { serve } from 'treadle/server'

const [url, mode] = process.argv.slice(2)
const jobs = treadle(url ?? 'memory:', { signingKey: 'at least 32 characters of a secret' })
const double = jobs.define('double', async (n) => n * 2)
const spin = jobs.define('spin', async () => { for (;;); }).isolate('thread', { from: import.meta.url }).timeout('1s')
jobs.define('beat', async () => 'beat').everySecond()

if (mode === 'main') {
  const beat = new Promise((resolve) => jobs.on('job:succeeded', ({ job }) => job === 'beat' && resolve()))
  const working = jobs.work({ signals: false })
  const many = await jobs.dispatchMany(double, Array.from({ length: 500 }, (_, n) => n))
  console.log('many', await many[499].result({ timeout: '1m' }))
  await beat
  console.log('schedule')
  console.log('chain', await (await jobs.chain([double.step(1), double.step(2)])).result({ timeout: '1m' }))
  const server = await serve(jobs, { port: 0, httpPort: 0 })
  const origin = 'http://127.0.0.1:' + server.httpAddress.port
  const body = JSON.stringify({ job: 'double', payload: 4 })
  const made = await fetch(origin + '/api/v1/jobs', { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  console.log('http', made.status, 'dashboard', (await fetch(origin + '/')).status)
  await server.stop()
  await (await spin.dispatch(null)).result({ timeout: '1m' }).catch(({ message }) => console.log(message.replace(/.*was over/, 'over')))
  await jobs.stop()
  await working
  await jobs.close()
  console.log('stopped')
}
`

test.each(['sqlite', 'postgres'] as const)(
  'on Bun a worker, schedules, workflows, a server and threads work on %s',
  async (engine) => {
    const found = bunOf(join(packed.folder, `bun-${engine}`))
    if ('problem' in found) return // the first test says why it was skipped
    const project = new Example(packed, 'bun-paths', { 'package.json': '{ "type": "module" }', 'paths.mjs': program })
    onTestFinished(() => project.end())
    await project.run(found.bun, ['add', packed.path, 'pg'])
    await using database = engine === 'postgres' ? await freshDatabase('postgres') : null
    const output = await project.run(found.bun, ['paths.mjs', database?.url ?? 'sqlite:jobs.db', 'main'])
    for (const line of ['many 998', 'schedule', 'chain 4', 'http 201 dashboard 200', 'over its timeout', 'stopped']) {
      expect(output).toContain(line)
    }
  },
)
