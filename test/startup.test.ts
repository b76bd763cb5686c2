import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { scratchFolder } from './processes/database.ts'

const root = fileURLToPath(new URL('..', import.meta.url))

/** Tells each module that is loaded on a line of its own. */
const telling = `import { writeSync } from 'node:fs'
export async function load(url, context, next) {
  writeSync(2, 'loaded ' + url + '\\n')
  return next(url, context)
}`
const preload = `import { register } from 'node:module'
register(${JSON.stringify(`data:text/javascript,${encodeURIComponent(telling)}`)})`

/** The parts of this package, and the packages, that a program has loaded when it has started. */
function loadedBy(...args: readonly string[]): readonly string[] {
  return [...new Set(filesLoadedBy(...args).flatMap((path) => partOf(path) ?? []))].sort()
}

function filesLoadedBy(...args: readonly string[]): readonly string[] {
  const hooks = `data:text/javascript,${encodeURIComponent(preload)}`
  const { stderr, status } = spawnSync(process.execPath, ['--import', hooks, ...args], { cwd: root, encoding: 'utf8' })
  expect(status).toBe(0)
  return [...stderr.matchAll(/^loaded file:\/\/(.*)$/gm)].map(([, path]) => (path as string).slice(root.length))
}

/** `dist/worker` is the file `dist/worker.js`, and all in the folder of that name. */
function partOf(path: string): string | undefined {
  return /^(node_modules\/(?:@[^/]+\/)?[^/]+|dist\/engines\/[^/.]+|dist\/(?!engines)[^/.]+)/.exec(path)?.[1]
}

const dear = ['dist/engines/sqlite', 'dist/engines/sql', 'dist/engines/postgres', 'dist/engines/mysql', 'node_modules/jiti']

test('a program that imports the library loads no backend before it opens one', () => {
  const loaded = loadedBy('--input-type=module', '-e', `import 'treadle'`)
  expect(loaded).toContain('dist/app')
  for (const part of [...dear, 'dist/server', 'dist/manager', 'dist/client', 'dist/cli']) expect(loaded).not.toContain(part)
})

test.each([
  ['a program that imports the library', ['--input-type=module', '-e', `import 'treadle'`]],
  ['a command', ['dist/cli/main.js', '--help']],
])('%s opens few files, for each takes its time', (_, args) => {
  expect(filesLoadedBy(...args).filter((path) => path.startsWith('dist/')).length).toBeLessThan(30)
})

test('the thread that watches a parent loads nothing that it does not need', () => {
  expect(loadedBy('dist/isolation/parent-watch-thread.js')).toEqual(['dist/isolation'])
})

test('with a queue in a file it loads that backend alone', () => {
  const folder = scratchFolder()
  onTestFinished(() => folder.remove())
  const program = `import { treadle } from 'treadle'
    const jobs = treadle('sqlite:' + process.argv[1])
    await jobs.open()
    await jobs.close()`
  const loaded = loadedBy('--input-type=module', '-e', program, folder.file('jobs.db'))
  expect(loaded).toContain('dist/engines/sqlite')
  for (const part of ['dist/engines/postgres', 'dist/engines/mysql', 'dist/engines/beanstalkd', 'dist/engines/redis'])
    expect(loaded).not.toContain(part)
})

test('the version is told without anything that commands need', () => {
  const loaded = loadedBy('dist/cli/main.js', '--version')
  expect(loaded).toContain('dist/cli')
  for (const part of ['dist/app', 'dist/worker', 'dist/scheduling', 'dist/execution']) expect(loaded).not.toContain(part)
})

test('a command loads no backend that it does not open, and no manager', () => {
  const loaded = loadedBy('dist/cli/main.js', '--help')
  expect(loaded).toContain('dist/cli')
  for (const part of [...dear, 'dist/manager']) expect(loaded).not.toContain(part)
})
