import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createContext, runInContext } from 'node:vm'
import { type BuildOptions, build } from 'esbuild'
import ts from 'typescript'
import { describe, expect, onTestFinished, test } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))

async function bundled(text: string, options: BuildOptions) {
  const { outputFiles, metafile } = await build({
    stdin: { contents: text, resolveDir: root },
    bundle: true,
    write: false,
    metafile: true,
    logLevel: 'silent',
    // Not the paths of this repository: what is published is bundled.
    tsconfigRaw: '{}',
    ...options,
  } as BuildOptions & { readonly write: false; readonly metafile: true })
  return { code: outputFiles[0]?.text ?? '', inputs: metafile.inputs }
}

describe('treadle/client in a browser', () => {
  const text = `import { ServerProblem, treadleClient } from 'treadle/client'
    globalThis.made = treadleClient({ url: globalThis.url, token: 'a token' })
    globalThis.ServerProblem = ServerProblem`

  test('is a bundle without anything of Node', async () => {
    const { inputs } = await bundled(text, { platform: 'browser', format: 'iife' })
    const ofNode = Object.values(inputs).flatMap(({ imports }) => imports.filter(({ path }) => path.startsWith('node:')))
    expect(ofNode).toEqual([])
  })

  test('runs where there is no process and no Buffer, and calls a server', async () => {
    const asked: string[] = []
    const server = createServer((request, response) => {
      asked.push(`${request.method} ${request.url} ${request.headers.authorization}`)
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify({ lines: [], dropped: 0, last: 0 }))
    }).listen(0, '127.0.0.1')
    onTestFinished(() => void server.close())
    await once(server, 'listening')
    const { code } = await bundled(text, { platform: 'browser', format: 'iife' })
    const {
      fetch,
      URL,
      URLSearchParams,
      AbortController,
      AbortSignal,
      TextEncoder,
      performance,
      crypto,
      setTimeout,
      clearTimeout,
    } = globalThis
    const web = {
      fetch,
      URL,
      URLSearchParams,
      AbortController,
      AbortSignal,
      TextEncoder,
      performance,
      crypto,
      setTimeout,
      clearTimeout,
    }
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const page = createContext({ ...web, url })
    runInContext(code, page)
    expect(await page.made.jobs.logs('7', { after: 3 })).toEqual({ lines: [], dropped: 0, last: 0 })
    expect(asked).toEqual([expect.stringMatching(/^GET \/.*\/jobs\/7\/logs\?after=3 Bearer a token$/)])
  })
})

describe('a program for Node that has Treadle in its bundle', () => {
  const external = ['pg', 'mysql2', 'mysql2/promise', '@azure/service-bus', 'jiti', '@photostructure/sqlite', 'undici']

  test.each(['cjs', 'esm'] as const)('works on a queue in memory, as %s', async (format) => {
    const { status, out } = await run(
      `import { treadle } from 'treadle'
       const main = async () => {
         const jobs = treadle('memory:', { unsigned: true })
         const run = await jobs.define('add', (n) => n + 1).dispatch(1)
         await jobs.run()
         console.log(await run.result())
         await jobs.close()
       }
       main()`,
      { format, external },
    )
    expect({ status, out }).toEqual({ status: 0, out: '2\n' })
  })

  test('is told which line to add where it needs the files of the package', async () => {
    const { out } = await run(
      `import { treadle } from 'treadle'
       const main = async () => {
         const jobs = treadle('memory:', { unsigned: true })
         await jobs.define('alone', () => {}).isolate('thread', { from: '/nowhere.mjs' }).dispatch()
         jobs.on('job:dead', ({ error }) => console.log(error.code, error.message))
         await jobs.run()
         await jobs.close()
       }
       main()`,
      { format: 'cjs', external },
    )
    expect(out).toMatch(
      /^PACKAGE_BUNDLED Treadle was bundled .*serverExternalPackages: \['treadle'\] in next\.config.*external: \['treadle'\]/,
    )
  })

  async function run(text: string, options: BuildOptions) {
    const { code } = await bundled(text, { platform: 'node', ...options })
    const folder = mkdtempSync(join(tmpdir(), 'treadle-bundle-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const file = join(folder, options.format === 'cjs' ? 'main.cjs' : 'main.mjs')
    // What esbuild itself advises for CommonJS packages in a bundle of ESM.
    const banner = "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);\n"
    writeFileSync(file, options.format === 'cjs' ? code : banner + code)
    const { status, stdout, stderr } = spawnSync(process.execPath, [file], { encoding: 'utf8' })
    return { status, out: stdout + (status === 0 ? '' : stderr) }
  }
})

test('minifiers that take a number after a backslash in a template for an octal escape find none', () => {
  const found = built().flatMap(([path, text]) => octalLooks(path, text))
  expect(found).toEqual([])
  expect(octalLooks('x.js', 'String.raw`(a)\\1`')).toEqual(['x.js: `(a)\\1`'])
})

test('webpack leaves alone what is imported by a computed name: it would find none of it', () => {
  const found = built().flatMap(([path, text]) => unmarkedImports(path, text))
  expect(found).toEqual([])
  expect(unmarkedImports('x.js', "import('a'); import(a); import(/* webpackIgnore: true */ a)")).toEqual(['x.js: import(a)'])
})

test('webpack leaves alone what is resolved by a computed name: it follows createRequire where that is imported by its name', () => {
  const found = built().flatMap(([path, text]) => namedCreateRequires(path, text))
  expect(found).toEqual([])
  expect(
    namedCreateRequires('x.js', "import { createRequire as c } from 'node:module'; import m from 'node:module'"),
  ).toHaveLength(1)
})

test('minifiers that take files copied by webpack for scripts find no await at their top level', () => {
  const copied = built().filter(([path]) => path !== 'cli/main.js')
  expect(copied.flatMap(([path, text]) => topLevelAwaits(path, text))).toEqual([])
  expect(topLevelAwaits('x.js', 'if (a) await b(); async function f() { await c() }')).toEqual(['x.js: await b()'])
})

/** The built files, without those that the dashboard sends to browsers. */
function built(): readonly (readonly [path: string, text: string])[] {
  return readdirSync(join(root, 'dist'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.js') && !path.includes('page'))
    .map((path) => [path, readFileSync(join(root, 'dist', path), 'utf8')])
}

function octalLooks(path: string, text: string): readonly string[] {
  if (!/\\\d/.test(text)) return []
  return textsOf(path, text, (node) =>
    ts.isTaggedTemplateExpression(node) && /(?<!\\)(?:\\\\)*\\(?:[1-9]|0\d)/.test(node.template.getText()) ? node.template : null,
  )
}

function unmarkedImports(path: string, text: string): readonly string[] {
  if (!text.includes('import(')) return []
  return textsOf(path, text, (node) => {
    if (!ts.isCallExpression(node) || node.expression.kind !== ts.SyntaxKind.ImportKeyword) return null
    const [argument] = node.arguments
    const isLiteral = argument !== undefined && ts.isStringLiteralLike(argument)
    return isLiteral || node.getText().includes('webpackIgnore: true') ? null : node
  })
}

function namedCreateRequires(path: string, text: string): readonly string[] {
  if (!text.includes('createRequire')) return []
  return textsOf(path, text, (node) =>
    ts.isImportSpecifier(node) && (node.propertyName ?? node.name).text === 'createRequire' ? node : null,
  )
}

function topLevelAwaits(path: string, text: string): readonly string[] {
  return textsOf(path, text, (node) =>
    ts.isAwaitExpression(node) && ts.findAncestor(node, ts.isFunctionLike) === undefined ? node : null,
  )
}

function textsOf(path: string, text: string, find: (node: ts.Node) => ts.Node | null): readonly string[] {
  const found: string[] = []
  const look = (node: ts.Node) => {
    const match = find(node)
    if (match !== null) found.push(`${path}: ${match.getText()}`)
    ts.forEachChild(node, look)
  }
  look(ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true))
  return found
}
