import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'
import ts from 'typescript'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { modulesBegunByPath } from '../scripts/build/entries.mjs'
import { npm } from '../scripts/npm.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const folder = mkdtempSync(join(tmpdir(), 'treadle-package-'))
const project = join(folder, 'project')
const entries = [
  'treadle',
  'treadle/testing',
  'treadle/sqlite',
  'treadle/postgres',
  'treadle/mysql',
  'treadle/beanstalkd',
  'treadle/service-bus',
  'treadle/redis',
  'treadle/memory',
  'treadle/transactions',
  'treadle/client',
  'treadle/server',
  'treadle/dashboard',
  'treadle/move',
]

/** Files that nothing imports: threads and processes begin there. */
const ownThreads = modulesBegunByPath().map((path) => `dist/${path}.js`)

/** How programs say by which rules imports are found. */
const moduleSettings = {
  node16: { module: ts.ModuleKind.Node16, moduleResolution: ts.ModuleResolutionKind.Node16 },
  nodenext: { module: ts.ModuleKind.NodeNext, moduleResolution: ts.ModuleResolutionKind.NodeNext },
  bundler: { module: ts.ModuleKind.ESNext, moduleResolution: ts.ModuleResolutionKind.Bundler },
} satisfies Readonly<Record<string, ts.CompilerOptions>>

interface Tarball {
  readonly path: string
  readonly files: readonly string[]
}
let tarball: Tarball

beforeAll(() => {
  tarball = pack()
  install(tarball)
}, 300_000)

afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('the tarball', () => {
  test('holds the built files, the documents, the examples and nothing else', () => {
    const known =
      /^(package\.json|README\.md|LICENSE|CHANGELOG\.md|CONTRIBUTING\.md|SECURITY\.md|bench\/(server\/)?README\.md|docs\/[\w./-]+\.(md|png|svg)|examples\/[\w./[\]-]+\.(md|tsx?|mjs|json|yaml|service|prisma|vue)|examples\/deploy\/Dockerfile|dist\/[\w./-]+\.(js|d\.ts)|dist\/server\/dashboard\/page\/(manifest\.json|[\w-]+\.(js|css|svg)(\.gz|\.br)?))$/
    expect(tarball.files.filter((path) => !known.test(path))).toEqual([])
    expect(tarball.files.filter((path) => /(^|\/)(test|tests|__tests__)\/|\.test\./.test(path))).toEqual([])
    expect(tarball.files).toEqual(
      expect.arrayContaining([
        'package.json',
        'README.md',
        'LICENSE',
        'CHANGELOG.md',
        'SECURITY.md',
        'dist/index.js',
        ...ownThreads,
      ]),
    )
  })

  test('has no page with a link to a file that is not in it', () => {
    const folders = new Set(tarball.files.flatMap(foldersOf))
    const holds = (path: string) => tarball.files.includes(path) || folders.has(path)
    const dead = tarball.files
      .filter((path) => path.endsWith('.md'))
      .flatMap((page) => linksOf(page).map((link) => [page, posix.join(posix.dirname(page), link)] as const))
      .filter(([, target]) => !holds(target.replace(/\/$/, '')))
    expect(dead).toEqual([])
  })

  test('holds few built files, and none whose source is gone', () => {
    const built = tarball.files.filter((path) => path.startsWith('dist/') && !path.startsWith('dist/server/dashboard/page/'))
    expect(built.length).toBeLessThan(100)
    expect(built.filter((path) => !sourcesOf(path).some((source) => existsSync(join(root, source))))).toEqual([])
  })

  test('has a file for each thread and each process that the library begins', () => {
    expect(ownThreads).toEqual(
      expect.arrayContaining(['dist/engines/sqlite/thread/thread.js', 'dist/app/loading/isolate-entry.js']),
    )
    expect(tarball.files).toEqual(expect.arrayContaining(ownThreads))
  })

  test('satisfies publint in its strict form', async () => {
    const bytes = new Uint8Array(readFileSync(tarball.path))
    const { messages, pkg } = await publint({ pack: { tarball: bytes.buffer }, strict: true })
    expect(messages.map((message) => formatMessage(message, pkg, { color: false }))).toEqual([])
  })

  test('has types that every kind of ESM resolution finds', () => {
    const checked = node([
      join(root, 'node_modules/@arethetypeswrong/cli/dist/index.js'),
      tarball.path,
      '--profile',
      'esm-only',
      '--no-color',
    ])
    expect(checked, checked.output).toMatchObject({ status: 0 })
  })
})

describe('a program that installed it', () => {
  test.each(entries)('imports %s as a module', (entry) => {
    const loaded = node(['--input-type=module', '-e', `console.log(Object.keys(await import('${entry}')).length)`])
    expect(loaded, loaded.output).toMatchObject({ status: 0, output: expect.stringMatching(/^[1-9]/m) })
  })

  test.each(entries)('requires %s from CommonJS', (entry) => {
    const loaded = node(['--input-type=commonjs', '-e', `console.log(Object.keys(require('${entry}')).length)`])
    expect(loaded, loaded.output).toMatchObject({ status: 0, output: expect.stringMatching(/^[1-9]/m) })
  })

  test('gets the same classes both ways', () => {
    const script = `import('treadle').then((module) => console.log(module.TreadleError === require('treadle').TreadleError))`
    const loaded = node(['--input-type=commonjs', '-e', script])
    expect(loaded, loaded.output).toMatchObject({ status: 0, output: expect.stringMatching(/^true$/m) })
  })

  test('gets the same value by every entry that exports it', () => {
    const script = `const seen = new Map()
      for (const entry of ${JSON.stringify(entries)}) for (const [name, value] of Object.entries(await import(entry))) {
        if (seen.has(name) && seen.get(name) !== value) console.log('another ' + name + ' in ' + entry)
        seen.set(name, value)
      }
      console.log(seen.has('TreadleError') && seen.has('ServerProblem') ? 'compared' : 'not exported')`
    expect(node(['--input-type=module', '-e', script]).output).toBe('compared\n')
  })

  test('runs on the embedded default right away, whatever the Node', () => {
    const script = `const { treadle } = await import('treadle')
      const jobs = treadle('sqlite:jobs.db')
      await jobs.open()
      console.log('opened')
      await jobs.close()`
    expect(node(['--input-type=module', '-e', script]).output).toMatch(/^opened$/m)
  })

  test.each([
    ['postgres', 'pg'],
    ['mysql', 'mysql2'],
    ['mariadb', 'mysql2'],
  ])('is told which package a %s:// URL needs', (scheme, driver) => {
    const script = `const { treadle } = await import('treadle')
      await treadle('${scheme}://127.0.0.1:1/app', { unsigned: true }).open().catch(({ code, message }) => console.log(code, message))`
    const opened = node(['--input-type=module', '-e', script])
    expect(opened.output).toMatch(
      new RegExp(`^DRIVER_MISSING .* needs the package "${driver}". Run: npm install ${driver} `, 'm'),
    )
  })

  test('cannot reach past the exports', () => {
    const loaded = node(['--input-type=module', '-e', `await import('treadle/dist/index.js')`])
    expect(loaded.output).toContain('ERR_PACKAGE_PATH_NOT_EXPORTED')
  })

  test('asks the command line for its version and its help', () => {
    const version = runNpm(['exec', '--no', '--', 'treadle', '--version'], project)
    expect(version.stdout.trim(), version.output).toBe(manifest.version)
    const help = runNpm(['exec', '--no', '--', 'treadle', '--help'], project)
    expect(help, help.output).toMatchObject({ status: 0, stdout: expect.stringContaining('treadle') })
  })
})

describe('a program in TypeScript', () => {
  const dispatch = (payload: string) => `
    const jobs = treadle('memory:')
    const sendEmail = jobs.define('send-email', async (mail: { to: string }) => mail.to.length)
    void sendEmail.dispatch(${payload})`

  test.each(Object.keys(moduleSettings) as (keyof typeof moduleSettings)[])(
    'compiles with %s against all declarations, libraries included, from ESM and from CommonJS',
    (setting) => {
      // Of these settings node16 alone does not know that Node requires ES modules: there a CommonJS program imports them dynamically.
      const dynamically = `import('treadle').then(({ treadle }) => {\n${dispatch(`{ to: 'ada@example.com' }`)}\n})`
      const all = entries.map((entry, index) => `import * as entry${index} from '${entry}'\nvoid entry${index}`).join('\n')
      const problems = compile(
        {
          'all.mts': all,
          'upkeep.mts': `import type { Finding, SchemaState, SchemaUpkeep, Upkeep, Verdict } from 'treadle'
        export type Looks = [Finding, SchemaState, SchemaUpkeep, Upkeep, Verdict]`,
          'right.mts': `import { treadle } from 'treadle'\n${dispatch(`{ to: 'ada@example.com' }`)}`,
          'right.cts':
            setting === 'node16' ? dynamically : `import { treadle } from 'treadle'\n${dispatch(`{ to: 'ada@example.com' }`)}`,
        },
        setting,
      )
      expect(problems).toEqual([])
    },
  )

  test.each(Object.keys(moduleSettings) as (keyof typeof moduleSettings)[])(
    'compiles with %s also where it names no types of Node itself',
    (setting) => {
      const all = entries.map((entry, index) => `import * as entry${index} from '${entry}'\nvoid entry${index}`).join('\n')
      expect(compile({ 'all.mts': all }, setting, { types: [] })).toEqual([])
    },
  )

  test('does not compile with a payload of the wrong type', () => {
    const problems = compile({ 'wrong.mts': `import { treadle } from 'treadle'\n${dispatch('{ to: 1 }')}` })
    expect(problems).toEqual([expect.stringMatching(/^wrong\.mts:5 TS2322: Type 'number' is not assignable to type 'string'/)])
  })
})

/** The files and folders that a page links to, as it writes them. */
function linksOf(page: string): readonly string[] {
  const text = readFileSync(join(root, page), 'utf8').replace(/^```[\s\S]*?^```/gm, '')
  const targets = [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target]) => (target as string).replace(/#.*/, ''))
  return targets.filter((target) => target !== '' && !/^[a-z]+:/.test(target))
}

function foldersOf(path: string): readonly string[] {
  const folder = posix.dirname(path)
  return folder === '.' ? [] : [folder, ...foldersOf(folder)]
}

/** Without scripts: a build would take dist/ away from the tests that run beside this one. */
function pack(): Tarball {
  const packed = runNpm(['pack', '--ignore-scripts', '--json', '--pack-destination', folder], root)
  if (packed.status !== 0) throw new Error(`npm pack failed:\n${packed.output}`)
  const [{ filename, files }] = JSON.parse(packed.stdout)
  return { path: join(folder, filename), files: files.map((file: { path: string }) => file.path) }
}

function install({ path }: Tarball): void {
  mkdirSync(project)
  writeFileSync(join(project, 'package.json'), '{ "name": "project", "private": true }')
  const flags = ['--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund', '--no-package-lock']
  const installed = runNpm(['install', ...flags, path], project)
  if (installed.status !== 0) throw new Error(`npm install failed:\n${installed.output}`)
  mkdirSync(join(project, 'node_modules/@types'), { recursive: true })
  symlinkSync(join(root, 'node_modules/@types/node'), join(project, 'node_modules/@types/node'), 'junction')
}

/** A module, or a folder of modules that are joined. */
function sourcesOf(built: string): readonly string[] {
  const source = built.replace(/^dist\//, 'src/').replace(/(\.d\.ts|\.js)$/, '')
  return [`${source}.ts`, source]
}

/** The errors of these files and of every declaration that they reach. */
function compile(
  files: Readonly<Record<string, string>>,
  setting: keyof typeof moduleSettings = 'nodenext',
  options: ts.CompilerOptions = {},
): readonly string[] {
  for (const [name, text] of Object.entries(files)) writeFileSync(join(project, name), text)
  const program = ts.createProgram({
    rootNames: Object.keys(files).map((name) => join(project, name)),
    options: {
      ...moduleSettings[setting],
      target: ts.ScriptTarget.ES2022,
      types: ['node'],
      typeRoots: [join(project, 'node_modules/@types')],
      strict: true,
      skipLibCheck: false,
      noEmit: true,
      ...options,
    },
  })
  return ts.getPreEmitDiagnostics(program).map((problem) => {
    const text = ts.flattenDiagnosticMessageText(problem.messageText, ' ')
    if (problem.file === undefined) return `TS${problem.code}: ${text}`
    const { line } = problem.file.getLineAndCharacterOfPosition(problem.start ?? 0)
    return `${problem.file.fileName.replace(`${project}/`, '')}:${line + 1} TS${problem.code}: ${text}`
  })
}

function node(args: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: project, encoding: 'utf8' })
  return { status, output: `${stdout}${stderr}` }
}

function runNpm(args: string[], cwd: string) {
  const { status, stdout, stderr } = npm(args, { cwd, stdio: 'pipe' })
  return { status, stdout: `${stdout}`, output: `${stdout}${stderr}` }
}
