import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { treadleProgram } from '../src/cli/program.ts'
import { type Block, blocksOf, matchesLoosely } from './docs/blocks.ts'
import { DocsProject, type Problems } from './docs/project.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const pages = ['README.md', ...markdownUnder('docs')]
const texts = new Map(
  [...pages, 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md'].map((page) => [page, readFileSync(join(root, page), 'utf8')]),
)
/** Others run these with the packed package: `getting-started.test.ts` that page, `examples` the files that frameworks are shown by. */
const examplePages = pages.filter((page) => page !== 'docs/getting-started.md' && !page.startsWith('docs/frameworks/'))
const blocks = new Map(examplePages.map((page) => [page, blocksOf(page, texts.get(page) ?? '')]))

describe('the examples of', () => {
  const project = new DocsProject()
  let problems: Problems
  beforeAll(async () => {
    problems = await project.run([...blocks.values()])
  }, 900_000)
  afterAll(() => project.remove())

  describe.each([...blocks].filter(([, { length }]) => length > 0))('%s', (page, examples) => {
    test.each(examples.map((block) => [titleOf(block), block] as const))('%s', (_, block) => {
      const problem = problems.get(block)
      expect(problem, `${page}:${block.line} ${problem}`).toBeUndefined()
    })
  })
})

describe('the pages', () => {
  test('say why an example is not run', () => {
    const unexplained = [...blocks.values()].flat().filter(({ settings }) => settings['no-run'] === '')
    expect(unexplained.map(({ page, line }) => `${page}:${line}`)).toEqual([])
  })

  test.each([...texts.keys()])('%s links only to what exists', (page) => {
    expect(brokenLinks(page)).toEqual([])
  })

  test('docs/cli.md shows every command', () => {
    const shown = texts.get('docs/cli.md') ?? ''
    const names = treadleProgram().commands.flatMap((command) => [
      command.name(),
      ...command.commands.map((inner) => `${command.name()} ${inner.name()}`),
    ])
    expect(names.filter((name) => !shown.includes(`npx treadle ${name}`))).toEqual([])
  })
})

describe('an example that is wrong is found', () => {
  const page = `
<!-- setup ts
import { TreadleError, treadle } from 'treadle'
const jobs = treadle('memory:')
-->
\`\`\`ts
console.log(await jobs.problems())
console.log('1 of 2')
\`\`\`
\`\`\`text output
[]
… of 2
\`\`\`
\`\`\`ts
jobs.define('wrong', (n: number) => n).dispatch('text')
\`\`\`
\`\`\`ts
throw new Error('wrong')
\`\`\`
\`\`\`ts throws=JOB_UNKNOWN
throw new TreadleError('TIMEOUT', 'wrong')
\`\`\`
\`\`\`ts throws=JOB_UNKNOWN
await jobs.dispatch('unknown')
\`\`\`
\`\`\`ts
console.log('2 of 2')
\`\`\`
\`\`\`text output
1 of 2
\`\`\`
\`\`\`ts file=jobs/wrong.ts
import { jobs } from 'treadle'
jobs.define('wrong', 'not a handler')
\`\`\`
\`\`\`sh
npx treadle no-such-command
\`\`\`
\`\`\`sh exit=2
npx treadle no-such-command
\`\`\`
\`\`\`sh
false
true
\`\`\`
\`\`\`sh stop-after="ready"
node -e "console.log('ready'); setInterval(() => {}, 1000)"
\`\`\`
\`\`\`ts
process.exit(0)
\`\`\`
`
  const examples = blocksOf('wrong.md', page)
  const project = new DocsProject()
  afterAll(() => project.remove())

  test('whether it does not compile, throws, prints something else or ends badly', async () => {
    const problems = await project.run([examples])
    const found = examples.map((block) => problems.get(block)?.split('\n')[0]?.slice(0, 45) ?? null)
    expect(found).toEqual([
      null,
      "it does not compile: Argument of type 'string",
      'it throws: Error: wrong',
      expect.stringMatching(/^it must throw JOB_UNKNOWN, and threw/),
      null,
      'it does not print what the page says, but:',
      "it does not compile: Argument of type 'string",
      'it ends with 2',
      null,
      'it ends with 1',
      'it ends with SIGINT',
      'it ended the process with 0',
    ])
  })

  test('output is compared line by line, in order, with gaps', () => {
    expect(matchesLoosely('id 1 a   b\nnoise\ndone in 12 ms', 'id … a b\ndone in …')).toBe(true)
    expect(matchesLoosely('done\nid 1', 'id 1\ndone')).toBe(false)
    expect(matchesLoosely('a.b', 'axb')).toBe(false)
    expect(matchesLoosely('', 'something')).toBe(false)
  })
})

function markdownUnder(folder: string): readonly string[] {
  const entries = readdirSync(join(root, folder), { withFileTypes: true, recursive: true })
  return entries
    .filter((entry) => entry.isFile() && entry.name.endsWith('.md'))
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length))
    .sort()
}

function titleOf({ line, language, settings, code }: Block): string {
  const said = language === 'sh' ? /^(npx|npm|echo|cd) / : /^(?!import |$)/
  const first = code.split('\n').find((text) => said.test(text)) ?? ''
  return `line ${line}: ${settings.file ?? `${language} ${first.slice(0, 60)}`}`
}

function brokenLinks(page: string): readonly string[] {
  const prose = withoutFences(texts.get(page) ?? '')
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, target = '']) => {
    if (/^[a-z]+:/.test(target)) return [`${target} leaves the repository`]
    const [path = '', anchor] = target.split('#')
    const file = path === '' ? join(root, page) : join(root, dirname(page), path)
    if (!existsSync(file)) return [`${target} does not exist`]
    return anchor === undefined || anchorsOf(readFileSync(file, 'utf8')).includes(anchor) ? [] : [`${target} has no such heading`]
  })
}

function anchorsOf(markdown: string): readonly string[] {
  const headings = withoutFences(markdown).matchAll(/^#+ (.+)$/gm)
  return [...headings].map(([, text = '']) =>
    text
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  )
}

function withoutFences(markdown: string): string {
  return markdown.replaceAll(/^```[\s\S]*?^```/gm, '')
}
