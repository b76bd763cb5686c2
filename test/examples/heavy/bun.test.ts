import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { npm } from '../../../scripts/npm.mjs'
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
