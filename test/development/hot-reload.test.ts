import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'

const library = fileURLToPath(new URL('../../dist/index.js', import.meta.url))

/** Runs a program of several modules, and gives what it printed. */
async function outputOf(files: Readonly<Record<string, string>>): Promise<{ readonly out: string; readonly err: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'treadle-reload-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), text.replaceAll('LIBRARY', JSON.stringify(library)))
  }
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [join(folder, 'main.mjs')])
  return { out: stdout.trim(), err: stderr.trim() }
}

const instance = `import { treadle } from LIBRARY\nexport const jobs = treadle('memory:', { unsigned: true })`

test('a module that is imported again replaces the job that it defines, and says so', async () => {
  const { out, err } = await outputOf({
    'instance.mjs': instance,
    'mail.mjs': `import { jobs } from './instance.mjs'
      jobs.define('mail', () => new URL(import.meta.url).search)`,
    'main.mjs': `import { jobs } from './instance.mjs'
      await import('./mail.mjs?v=1')
      await import('./mail.mjs?v=2')
      const run = await jobs.dispatch('mail')
      await jobs.run()
      console.log(await run.result(), jobs.definitions().length)
      await jobs.close()`,
  })
  expect(out).toBe('?v=2 1')
  expect(err).toMatch(
    /^treadle: the job "mail" was defined again by file:.*mail\.mjs, which was loaded again: its new definition counts$/,
  )
})

test('a class is the same job in each copy of its module', async () => {
  const { out } = await outputOf({
    'instance.mjs': instance,
    'mail.mjs': `import { jobs } from './instance.mjs'
      export class Mail { handle() { return new URL(import.meta.url).search } }
      jobs.define(Mail).queue('post')`,
    'main.mjs': `import { jobs } from './instance.mjs'
      const before = await import('./mail.mjs?v=1')
      const after = await import('./mail.mjs?v=2')
      const runs = [await jobs.dispatch(before.Mail), await jobs.dispatch(after.Mail)]
      await jobs.run()
      console.log(await runs[0].result(), await runs[1].result(), jobs.definitions().length)
      await jobs.close()`,
  })
  expect(out).toBe('?v=2 ?v=2 1')
})

test('so does a CommonJS module whose cache entry a reloader deletes', async () => {
  const { out, err } = await outputOf({
    'instance.cjs': `const { treadle } = require(LIBRARY)\nexports.jobs = treadle('memory:', { unsigned: true })`,
    'mail.cjs': `require('./instance.cjs').jobs.define('mail', () => {})`,
    'main.mjs': `import { createRequire } from 'node:module'
      import { setImmediate as turn } from 'node:timers/promises'
      const require = createRequire(import.meta.url)
      require('./mail.cjs')
      await turn()
      delete require.cache[require.resolve('./mail.cjs')]
      require('./mail.cjs')
      console.log(require('./instance.cjs').jobs.definitions().length)`,
  })
  expect(out).toBe('1')
  expect(err).toContain('the job "mail" was defined again')
})

test('so does one that the development server of Vite evaluates again', async () => {
  const { out, err } = await outputOf({
    'instance.mjs': instance,
    'mail.mjs': `import { jobs } from './instance.mjs'
      globalThis.times = (globalThis.times ?? 0) + 1
      const time = globalThis.times
      jobs.define('mail', () => time)`,
    'main.mjs': `import { createRequire } from 'node:module'
      import { pathToFileURL } from 'node:url'
      const found = createRequire(LIBRARY).resolve('vite')
      const { createServer } = await import(pathToFileURL(found).href)
      const root = new URL('.', import.meta.url).pathname
      const server = await createServer({
        root, configFile: false, appType: 'custom', logLevel: 'silent', optimizeDeps: { noDiscovery: true },
        server: { middlewareMode: true, watch: null, hmr: false, ws: false },
        ssr: { external: [LIBRARY] },
      })
      await server.ssrLoadModule('/mail.mjs')
      server.moduleGraph.invalidateModule(await server.moduleGraph.getModuleByUrl('/mail.mjs'))
      await server.ssrLoadModule('/mail.mjs')
      const { jobs } = await server.ssrLoadModule('/instance.mjs')
      const run = await jobs.dispatch('mail')
      await jobs.run()
      console.log(await run.result())
      await jobs.close()
      await server.close()`,
  })
  expect(out).toBe('2')
  expect(err).toContain('the job "mail" was defined again')
})

/** As Turbopack writes chunks for the server: CommonJS, and a module in it goes on when the ES modules that it imports are there. */
const chunk = `(async () => {
  const { jobs } = await import('../../../instance.mjs')
  jobs.define('mail', () => __filename)
  globalThis.loaded = (globalThis.loaded ?? 0) + 1
})()`

test('the copies of a module in the bundles of several routes of Next.js are one job, without a word', async () => {
  const { out, err } = await outputOf({
    'instance.mjs': instance,
    '.next/server/chunks/welcome-route.js': chunk,
    '.next/server/chunks/[root-of-the-server]__page.js': chunk,
    'main.mjs': `import { createRequire } from 'node:module'
      import { setImmediate as turn } from 'node:timers/promises'
      import { jobs } from './instance.mjs'
      const require = createRequire(import.meta.url)
      require('./.next/server/chunks/welcome-route.js')
      while (globalThis.loaded !== 1) await turn()
      require('./.next/server/chunks/[root-of-the-server]__page.js')
      while (globalThis.loaded !== 2) await turn()
      console.log(jobs.definitions().length)`,
  })
  expect({ out, err }).toEqual({ out: '1', err: '' })
})

test('a module that Turbopack evaluates again, by a URL with its own name in the query, replaces its job', async () => {
  const { out, err } = await outputOf({
    'instance.mjs': instance,
    '.next/dev/server/chunks/[root]__a.js': chunk.replace('../../../', '../../../../'),
    '.next/dev/server/chunks/[turbopack]_runtime.js': `exports.instantiateModule = (text, jobs) => (0, eval)(text)(jobs)`,
    'main.mjs': `import { createRequire } from 'node:module'
      import { pathToFileURL } from 'node:url'
      import { setImmediate as turn } from 'node:timers/promises'
      import { jobs } from './instance.mjs'
      const require = createRequire(import.meta.url)
      require('./.next/dev/server/chunks/[root]__a.js')
      while (globalThis.loaded !== 1) await turn()
      await turn()
      const { instantiateModule } = require('./.next/dev/server/chunks/[turbopack]_runtime.js')
      const file = pathToFileURL(require.resolve('./.next/dev/server/chunks/[root]__a.js')).href.replace('[', '%5B').replace(']', '%5D')
      const named = file + '?id=%5Bproject%5D/jobs/mail.ts+%5Bapp-route%5D+(ecmascript)'
      instantiateModule("(jobs) => jobs.define('mail', () => {})\\n//# sourceURL=" + named, jobs)
      console.log(jobs.definitions().length)`,
  })
  expect(out).toBe('1')
  expect(err).toContain('the job "mail" was defined again')
})

test('two definitions of one name are refused as before: in one module, in two, and in functions', async () => {
  const { out } = await outputOf({
    'instance.mjs': instance,
    'a.mjs': `import { jobs } from './instance.mjs'\njobs.define('a', () => {})`,
    'b.mjs': `import { jobs } from './instance.mjs'\njobs.define('a', () => {})`,
    'main.mjs': `import { jobs } from './instance.mjs'
      import { setImmediate as turn } from 'node:timers/promises'
      const codes = []
      await import('./a.mjs')
      await import('./b.mjs').catch(({ code }) => codes.push(code))
      try {
        jobs.define('x', () => {})
        await turn()
        jobs.define('x', () => {})
      } catch ({ code }) {
        codes.push(code)
      }
      async function main() {
        jobs.define('y', () => {})
        await turn()
        jobs.define('y', () => {})
      }
      await main().catch(({ code }) => codes.push(code))
      console.log(codes.join(' '))`,
  })
  expect(out).toBe('JOB_DUPLICATE JOB_DUPLICATE JOB_DUPLICATE')
})
