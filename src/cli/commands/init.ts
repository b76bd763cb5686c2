import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { type Command, Option } from 'commander'
import { configFileNames } from '../../app/config/config-file.ts'
import { TreadleError } from '../../core/errors.ts'
import { createKeyFile, readKeyFile } from '../../envelope/keys/key-file.ts'
import { examples } from '../examples.ts'
import { choicesFor, type InitOptions } from '../init/choices.ts'
import { guideFor } from '../init/guides.ts'
import { type Choices, databases, frameworks, languages } from '../init/options.ts'
import { commandOf, mergedManifest, readManifest } from '../init/package-json.ts'
import { entryPath, type ProjectFile, projectFiles, signingKeyFile } from '../init/project-files.ts'
import { withOutput } from '../session.ts'

export function addInit(program: Command): void {
  program
    .command('init')
    .summary('create a project that runs: config, job, schedule, test')
    .description(
      'Creates a config file, a job, a schedule, a test and a program that dispatches the job, and adds scripts and dependencies to package.json. On a terminal it asks for the language, the database and the web framework, unless they are given as options. Existing files are never changed, except that package.json and .gitignore get what they lack.',
    )
    .argument('[folder]', 'where to create them; created if needed', '.')
    .addOption(new Option('--language <name>', 'the language').choices(languages))
    .addOption(new Option('--database <name>', 'where the queue is').choices(databases))
    .addOption(new Option('--framework <name>', 'a web server that dispatches jobs').choices(frameworks))
    .option('--yes', 'ask nothing: use the defaults for everything that is not given')
    .option('--force', 'overwrite existing files')
    .addHelpText(
      'after',
      examples(
        ['init', 'in this folder'],
        ['init backend --yes', 'TypeScript and SQLite, in the folder "backend"'],
        ['init --language commonjs --database postgres --framework express', ''],
      ),
    )
    .action((folder: string, options: InitOptions, command: Command) =>
      withOutput(command, async ({ out }) => {
        const root = resolve(folder)
        const choices = await choicesFor(root, options)
        const files = projectFiles(root, choices)
        if (!options.force) refuseToOverwrite(root, files)
        const { created, changed } = writeProject(root, choices, files)
        const next = nextSteps(root, choices)
        out.answer({ created, changed, next: next.map(([step]) => step) }, () => report(created, changed, next))
      }),
    )
}

function refuseToOverwrite(root: string, files: readonly ProjectFile[]): void {
  const names = new Set([...configFileNames, ...files.map(({ path }) => path)])
  const existing = [...names].map((name) => join(root, name)).filter((path) => existsSync(path))
  if (existing.length === 0) return
  throw new TreadleError(
    'CONFIG_INVALID',
    `Nothing was written, because these files already exist: ${existing.join(', ')}. Use --force to overwrite them.`,
  )
}

interface Written {
  readonly created: readonly string[]
  readonly changed: readonly string[]
}

function writeProject(root: string, choices: Choices, files: readonly ProjectFile[]): Written {
  const merged = mergedFiles(root, choices)
  const isThere = ({ path }: ProjectFile) => existsSync(join(root, path))
  const differs = ({ path, text }: ProjectFile) => readFileSync(join(root, path), 'utf8') !== text
  const fresh = merged.filter((file) => !isThere(file))
  const changed = merged.filter((file) => isThere(file) && differs(file))
  const created = [...fresh, ...files].map((file) => write(root, file))
  if (choices.database !== 'sqlite' && readKeyFile(join(root, signingKeyFile)) === undefined) {
    createKeyFile(join(root, signingKeyFile))
    created.push(join(root, signingKeyFile))
  }
  return { created, changed: changed.map((file) => write(root, file)) }
}

/** Files that may already exist; their content is kept. */
function mergedFiles(root: string, choices: Choices): readonly ProjectFile[] {
  const manifest = mergedManifest(root, choices, guideFor(root) === null ? entryPath(root, choices) : null)
  return [
    { path: 'package.json', text: `${JSON.stringify(manifest, null, indentation(root))}\n` },
    { path: '.gitignore', text: ignoreText(root) },
  ]
}

function indentation(root: string): string {
  if (readManifest(root) === null) return '  '
  return /\n([ \t]+)"/.exec(readFileSync(join(root, 'package.json'), 'utf8'))?.[1] ?? '  '
}

function ignoreText(root: string): string {
  const path = join(root, '.gitignore')
  const existing = existsSync(path) ? readFileSync(path, 'utf8') : ''
  const lines = existing.split(/\r?\n/)
  const covered = (line: string) => lines.includes(line) || lines.includes(line.replace(/\/$/, ''))
  const missing = ['node_modules/', 'treadle.db*', signingKeyFile].filter((line) => !covered(line))
  if (missing.length === 0) return existing
  return `${existing === '' || existing.endsWith('\n') ? existing : `${existing}\n`}${missing.join('\n')}\n`
}

function write(root: string, { path, text }: ProjectFile): string {
  const file = join(root, path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
  return file
}

type Step = readonly [command: string, what: string]

function nextSteps(root: string, choices: Choices): readonly Step[] {
  const { database, framework } = choices
  const folder = relative(process.cwd(), root)
  const guide = guideFor(root)
  const entry = entryPath(root, choices)
  const steps: readonly (Step | false)[] = [
    folder !== '' && [`cd ${folder}`, ''],
    ['npm install', 'install what package.json names'],
    database !== 'sqlite' && ['export DATABASE_URL=…', `the ${database} database; the default is in the config file`],
    [commandOf('test', root, choices, entry), 'run the test'],
    guide === null && [
      commandOf('start', root, choices, entry),
      framework === 'none' ? 'put a job into the queue' : 'start the web server',
    ],
    ['npm run work', 'run jobs and schedules; Ctrl-C stops it'],
    ['npm run dashboard', 'watch them in a browser'],
    guide !== null && [`read ${guide.page}`, `how it fits into ${guide.framework}`],
  ]
  return steps.filter((step) => step !== false)
}

function report(created: readonly string[], changed: readonly string[], next: readonly Step[]): string {
  const shown = (verb: string) => (path: string) => `${verb} ${relative(process.cwd(), path)}`
  const width = Math.max(...next.map(([command]) => command.length))
  const steps = next.map(([command, what]) => `  ${command.padEnd(width)}  ${what}`.trimEnd())
  return [...created.map(shown('created')), ...changed.map(shown('changed')), '', 'Next:', ...steps].join('\n')
}
