import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { entryFile, entryText } from './entry-text.ts'
import { guideFor } from './guides.ts'
import type { Choices, Database } from './options.ts'
import { mergedManifest } from './package-json.ts'
import { exported, exportLine, fileEnding, importFile, importLine, type SourceText, typed } from './source-text.ts'

export interface ProjectFile {
  readonly path: string
  readonly text: string
}

export const signingKeyFile = 'treadle.key'

/** The files that `treadle init` creates; none of them may exist. */
export function projectFiles(root: string, choices: Choices): readonly ProjectFile[] {
  const source = sourceTextFor(root, choices)
  const ending = endingFor(root, choices)
  const needsTsconfig = choices.language === 'typescript' && !hasTsconfig(root)
  return [
    { path: configFile(choices), text: configText(source, choices) },
    { path: `jobs/hello${ending}`, text: helloText(source) },
    { path: `jobs/good-morning${ending}`, text: goodMorningText(source) },
    // A framework with a guide has a program that dispatches: the guide shows where.
    ...(guideFor(root) === null ? [{ path: entryPath(root, choices), text: entryText(source, choices.framework) }] : []),
    { path: `test/hello.test${ending}`, text: testText(source) },
    ...(needsTsconfig ? [{ path: 'tsconfig.json', text: tsconfigText }] : []),
  ]
}

/** The program that `npm start` runs. */
export function entryPath(root: string, choices: Choices): string {
  return `${entryFile(choices.framework)}${endingFor(root, choices)}`
}

function endingFor(root: string, choices: Choices): string {
  const { type } = mergedManifest(root, choices, null)
  return fileEnding(sourceTextFor(root, choices), type)
}

function sourceTextFor(root: string, { language }: Choices): SourceText {
  if (language === 'commonjs') return { language, importEnding: '' }
  // Node and tsx import a file by its actual name. A project that compiles imports the compiler's output.
  if (language === 'typescript') return { language, importEnding: hasTsconfig(root) ? '.js' : '.ts' }
  return {
    language,
    importEnding:
      mergedManifest(root, { language, database: 'sqlite', framework: 'none' }, null).type === 'module' ? '.js' : '.mjs',
  }
}

function hasTsconfig(root: string): boolean {
  return existsSync(join(root, 'tsconfig.json'))
}

function configFile({ language }: Choices): string {
  return `treadle.config.${{ typescript: 'ts', javascript: 'mjs', commonjs: 'cjs' }[language]}`
}

const urls: Readonly<Record<Database, string>> = {
  sqlite: "'sqlite:treadle.db'",
  postgres: "process.env.DATABASE_URL ?? 'postgres://postgres@127.0.0.1:5432/postgres'",
  mysql: "process.env.DATABASE_URL ?? 'mysql://root@127.0.0.1:3306/app'",
  mariadb: "process.env.DATABASE_URL ?? 'mariadb://root@127.0.0.1:3306/app'",
}

function configText(source: SourceText, { database, language }: Choices): string {
  const key =
    database === 'sqlite'
      ? ''
      : `  // Signs the jobs: every program that uses this queue needs the same file. Do not commit it.
  signingKeyFile: ${language === 'commonjs' ? `path.join(__dirname, '${signingKeyFile}')` : `fileURLToPath(new URL('${signingKeyFile}', import.meta.url))`},
`
  const path =
    language === 'commonjs' ? importLine(source, 'path', 'node:path') : importLine(source, '{ fileURLToPath }', 'node:url')
  return `${key === '' ? '' : `${path}\n`}${importLine(source, '{ defineConfig }', 'treadle')}

${language === 'commonjs' ? 'module.exports =' : 'export default'} defineConfig({
  // ${database === 'sqlite' ? 'The queue: a file beside this one, created when it is first used.' : 'The queue: the tables are created in this database when it is first used.'}
  url: ${urls[database]},
${key}  // Where the jobs are defined.
  jobs: 'jobs',
  // Defaults for jobs that do not set their own: up to three retries after a failed first attempt.
  defaults: { retries: 3 },
})
`
}

function helloText(source: SourceText): string {
  return `${importLine(source, '{ jobs }', 'treadle')}

// A job that your program dispatches: await hello.dispatch({ name: 'Ada' })
${exported(source)} hello = jobs.define('hello', async (person${typed(source, ': { name: string }')}) => {
  console.log(\`Hello, \${person.name}!\`)
  return { greeted: person.name }
})
${exportLine(source, 'hello')}`
}

function goodMorningText(source: SourceText): string {
  return `${importLine(source, '{ jobs }', 'treadle')}

// A job that runs on a schedule: every worker follows it, and each occurrence runs once.
${exported(source)} goodMorning = jobs
  .define('good-morning', async () => {
    console.log('Good morning!')
  })
  .dailyAt('08:00')
  .timezone('Europe/Paris')
${exportLine(source, 'goodMorning')}`
}

function testText(source: SourceText): string {
  return `${importLine(source, 'assert', 'node:assert/strict')}
${importLine(source, '{ test }', 'node:test')}
${importLine(source, '{ configure, jobs }', 'treadle')}
${importLine(source, '{ drain }', 'treadle/testing')}
${importFile(source, '{ hello }', '../jobs/hello')}

configure({ url: 'memory:' }) // a queue in memory, not the real one

test('hello greets the person it is given', async () => {
  const run = await hello.dispatch({ name: 'Ada' })
  await drain(jobs)
  assert.deepEqual(await run.result(), { greeted: 'Ada' })
  await jobs.close()
})
`
}

const tsconfigText = `{
  "compilerOptions": {
    "target": "ES2022",
    "lib": ["ES2023"],
    "module": "NodeNext",
    "types": ["node"],
    "strict": true,
    "skipLibCheck": true,
    "allowImportingTsExtensions": true,
    "noEmit": true
  },
  "include": ["**/*.ts"]
}
`
