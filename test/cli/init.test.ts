import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { createServer } from 'node:net'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { describe, expect, it, onTestFinished } from 'vitest'
import { HostedProject } from './hosted-project.ts'
import { Project } from './project.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

describe('treadle init creates a project', () => {
  it.each([
    ['typescript', 'ts', 'ts', 'module'],
    ['javascript', 'mjs', 'js', 'module'],
    ['commonjs', 'cjs', 'js', 'commonjs'],
  ])('in %s that works as it is (J40)', async (language, config, ending, type) => {
    const project = new HostedProject()
    const made = await project.call(['init', '--language', language])
    expect(made).toMatchObject({ code: 0, err: '' })
    const files = [`treadle.config.${config}`, `jobs/hello.${ending}`, `jobs/good-morning.${ending}`, `app.${ending}`]
    for (const file of [...files, `test/hello.test.${ending}`]) expect(made.out).toContain(`created ${file}\n`)
    expect(made.out).toContain('npm run work')
    expect(manifestOf(project)).toMatchObject({
      type,
      scripts: { work: 'treadle work' },
      dependencies: { treadle: expect.any(String) },
    })
    expect((await project.call(['check'])).out).toContain('✓ 2 jobs, 1 queue, 1 schedule')
    await project.call(['send', 'hello', '{"name":"Ada"}'])
    expect((await project.call(['run'])).out).toBe('Hello, Ada!\n1 queued by schedules, 1 succeeded\n')
  })

  it('whose program and test run in plain Node', async () => {
    const project = new Project()
    await project.call(['init', '--language', 'commonjs'])
    install(project, 'treadle')
    expect(await ended(project, ['--test'])).toMatchObject({ code: 0, output: expect.stringMatching(/^[#ℹ] pass 1$/m) })
    expect(existsSync(project.path('treadle.db'))).toBe(false)
    expect(await ended(project, ['app.js'])).toMatchObject({ code: 0, output: expect.stringMatching(/^queued hello /) })
    expect(await project.call(['run', '--no-scheduler'])).toMatchObject({ err: '', out: 'Hello, Ada!\n1 succeeded\n' })
  })

  it.each([
    ['express', ['express', '@types/express']],
    ['fastify', ['fastify']],
    ['hono', ['hono', '@hono/node-server']],
  ])('with a web server on %s that dispatches and shows the dashboard', async (framework, packages) => {
    const typed = new HostedProject()
    await typed.call(['init', '--language', 'typescript', '--framework', framework])
    install(typed, 'treadle', '@types/node', ...packages)
    expect(typeProblems(typed)).toEqual([])
    const project = new Project()
    await project.call(['init', '--language', 'javascript', '--framework', framework])
    install(project, 'treadle', ...packages)
    const url = await startServer(project)
    const answer = await fetch(`${url}/hello`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"name":"Ada"}',
    })
    expect(answer.status).toBe(202)
    expect(await answer.json()).toEqual({ id: expect.any(String) })
    const page = await fetch(`${url}/jobs/`)
    expect([page.status, page.headers.get('content-type')]).toEqual([200, expect.stringContaining('text/html')])
    const preview = await fetch(`${url}/jobs/-/preview`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin', 'x-treadle': '1' },
      body: '{"filter":"job:hello"}',
    })
    expect(await preview.json()).toMatchObject({ count: 1 })
    expect(await project.call(['run', '--no-scheduler'])).toMatchObject({ err: '', out: 'Hello, Ada!\n1 succeeded\n' })
  })

  it.each([
    ['postgres', 'pg'],
    ['mysql', 'mysql2'],
    ['mariadb', 'mysql2'],
  ])('on %s with its driver and a key that nobody else can read', async (database, driver) => {
    const project = new HostedProject()
    await project.call(['init', '--language', 'commonjs', '--database', database])
    expect(manifestOf(project).dependencies).toMatchObject({ [driver]: expect.any(String) })
    expect(readFileSync(project.path('.gitignore'), 'utf8')).toContain('treadle.key\n')
    const listed = await project.call(['check'], { env: { DATABASE_URL: `${database}://127.0.0.1:1/app` } })
    expect(listed.out).toContain('✓ 2 jobs, 1 queue, 1 schedule')
    expect(existsSync(project.path('treadle.key'))).toBe(true)
  })
})

describe('treadle init in a folder that holds something', () => {
  it('lists what exists and writes nothing, unless it is forced', async () => {
    const project = new HostedProject({ 'backend/treadle.config.mjs': '// mine', 'backend/jobs/hello.ts': '// mine too' })
    const refused = await project.call(['init', 'backend'])
    expect(refused).toMatchObject({ code: 1, out: '' })
    expect(refused.err).toContain(project.path('backend/treadle.config.mjs'))
    expect(refused.err).toContain(project.path('backend/jobs/hello.ts'))
    expect(existsSync(project.path('backend/package.json'))).toBe(false)
    expect(await project.call(['init', 'backend', '--force'])).toMatchObject({ code: 0 })
    expect(readFileSync(project.path('backend/jobs/hello.ts'), 'utf8')).toContain("jobs.define('hello'")
  })

  it('adds to a package.json only what it lacks, in the language of the project', async () => {
    const mine = {
      name: 'shop',
      scripts: { start: 'node index.js', test: 'echo "Error: no test specified" && exit 1' },
      dependencies: { pg: '8.16.0', treadle: 'file:../treadle.tgz' },
    }
    const project = new HostedProject({ 'package.json': JSON.stringify(mine, null, '\t'), '.gitignore': 'node_modules' })
    const made = await project.call(['init', '--database', 'sqlite'])
    expect(made.out).toContain('changed package.json\nchanged .gitignore\n')
    expect(made.out).toContain('created app.js\n')
    expect(made.out).toMatch(/^ {2}npm test +run the test$/m)
    expect(made.out).toMatch(/^ {2}node app\.js +put a job into the queue$/m)
    expect(manifestOf(project)).toEqual({
      name: 'shop',
      scripts: expect.objectContaining({ start: 'node index.js', test: 'node --test', work: 'treadle work' }),
      dependencies: mine.dependencies,
    })
    expect(readFileSync(project.path('package.json'), 'utf8')).toContain('\n\t"name"')
    expect(readFileSync(project.path('.gitignore'), 'utf8')).toBe('node_modules\ntreadle.db*\ntreadle.key\n')
  })

  it.each([
    ['npm install', { dependencies: { 'drizzle-orm': '*', express: '*', treadle: '*' } }],
    [
      'npm init',
      { type: 'commonjs', scripts: { test: 'echo "Error: no test specified" && exit 1' }, dependencies: { zod: '*' } },
    ],
  ])('is TypeScript where only %s has written, whatever was installed', async (_, manifest) => {
    const project = new HostedProject({ 'package.json': JSON.stringify(manifest), 'node_modules/zod/index.js': '' })
    expect((await project.call(['init', '--yes'])).out).toContain('created treadle.config.ts\n')
    expect(manifestOf(project)).toMatchObject({ type: 'module', scripts: { test: expect.stringContaining('tsx') } })
  })

  it.each(['index.js', 'src/main.js'])('keeps the language and the module type of a project that has %s', async (source) => {
    const project = new HostedProject({ 'package.json': '{"dependencies":{"treadle":"*"}}', [source]: '' })
    expect((await project.call(['init', '--yes'])).out).toContain('created treadle.config.cjs\n')
    expect(manifestOf(project)).not.toHaveProperty('type')
  })

  it('leaves a tsconfig.json alone, and imports what its compiler makes', async () => {
    const project = new HostedProject({ 'package.json': '{"type":"commonjs","scripts":{"build":"tsc"}}', 'tsconfig.json': '{}' })
    await project.call(['init'])
    expect(readFileSync(project.path('tsconfig.json'), 'utf8')).toBe('{}')
    expect(readFileSync(project.path('app.ts'), 'utf8')).toContain("from './jobs/hello.js'")
  })

  it.each([
    ['next', 'nextjs'],
    ['@nestjs/core', 'nestjs'],
    ['@react-router/dev', 'react-router'],
    ['nuxt', 'nuxt'],
  ])('names the page for a project with %s', async (name, page) => {
    const project = new HostedProject({ 'package.json': JSON.stringify({ dependencies: { [name]: '*' } }) })
    const made = await project.call(['init', '--yes'])
    const path = `docs/frameworks/${page}.md`
    expect(made.out).toContain(`read node_modules/treadle/${path}`)
    expect(made.out).not.toMatch(/app\.ts|npm start/)
    expect(manifestOf(project).scripts).not.toHaveProperty('start')
    expect(existsSync(join(root, path))).toBe(true)
  })

  it('says which package.json it cannot read', async () => {
    const project = new HostedProject({ 'package.json': '{' })
    const refused = await project.call(['init'])
    expect(refused).toMatchObject({ code: 1, err: expect.stringContaining(`${project.path('package.json')} cannot be read`) })
  })
})

function manifestOf(project: Project) {
  return JSON.parse(readFileSync(project.path('package.json'), 'utf8'))
}

/** As npm would, but from this repository. */
function install(project: Project, ...names: readonly string[]): void {
  for (const name of names) {
    const path = project.path(`node_modules/${name}`)
    mkdirSync(dirname(path), { recursive: true })
    symlinkSync(name === 'treadle' ? root : join(root, 'node_modules', name), path, 'junction')
  }
}

function typeProblems(project: Project): readonly string[] {
  const { config } = ts.readConfigFile(project.path('tsconfig.json'), ts.sys.readFile)
  const { options, fileNames } = ts.parseJsonConfigFileContent(config, ts.sys, project.folder)
  const problems = ts.getPreEmitDiagnostics(ts.createProgram(fileNames, options))
  return problems.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, ' '))
}

function start(project: Project, args: readonly string[], env: NodeJS.ProcessEnv = {}): ChildProcess {
  const child = spawn(process.execPath, args, { cwd: project.folder, env: { ...process.env, ...env } })
  onTestFinished(() => void child.kill('SIGKILL'))
  return child
}

async function ended(project: Project, args: readonly string[]) {
  const child = start(project, args)
  let output = ''
  child.stdout?.on('data', (chunk) => {
    output += chunk
  })
  child.stderr?.on('data', (chunk) => {
    output += chunk
  })
  const [code] = await once(child, 'close')
  return { code, output }
}

async function startServer(project: Project): Promise<string> {
  const port = await freePort()
  const child = start(project, ['server.js'], { PORT: String(port) })
  let output = ''
  child.stderr?.on('data', (chunk) => {
    output += chunk
  })
  await new Promise<void>((resolve, reject) => {
    child.stdout?.on('data', (chunk) => String(chunk).includes('listening') && resolve())
    child.on('close', () => reject(new Error(`the server ended: ${output}`)))
  })
  return `http://127.0.0.1:${port}`
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  return typeof address === 'object' && address !== null ? address.port : 0
}
