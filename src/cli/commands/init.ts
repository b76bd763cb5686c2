import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import type { Command } from 'commander'
import { configFileNames } from '../../app/config-file.ts'
import { TreadleError } from '../../core/errors.ts'
import { examples } from '../examples.ts'
import { withOutput } from '../session.ts'
import { firstFiles } from '../templates.ts'

export function addInit(program: Command): void {
  program
    .command('init')
    .summary('make a config file and a first job')
    .description('Writes treadle.config.ts and jobs/hello.ts, and nothing else. Files that exist are left alone.')
    .argument('[folder]', 'where to write them', '.')
    .option('--force', 'overwrite what exists')
    .addHelpText(
      'after',
      examples(['init', 'in this folder'], ['init backend', 'in the folder "backend", which is made if needed']),
    )
    .action((folder: string, options: { readonly force?: boolean }, command: Command) =>
      withOutput(command, async ({ out }) => {
        const root = resolve(folder)
        if (!options.force) refuseToOverwrite(root)
        const created = firstFiles.map(({ path, text }) => writeNew(join(root, path), text))
        out.answer({ created }, () => nextSteps(root, created))
      }),
    )
}

function refuseToOverwrite(root: string): void {
  const names = new Set([...configFileNames, ...firstFiles.map(({ path }) => path)])
  const existing = [...names].map((name) => join(root, name)).filter((path) => existsSync(path))
  if (existing.length === 0) return
  throw new TreadleError(
    'CONFIG_INVALID',
    `Nothing was written, because there is already: ${existing.join(', ')}. Use --force to overwrite.`,
  )
}

function writeNew(path: string, text: string): string {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
  return path
}

function nextSteps(root: string, created: readonly string[]): string {
  const folder = relative(process.cwd(), root)
  const steps = [
    ...(folder === '' ? [] : [[`cd ${folder}`, '']]),
    ...(isInstalled(root) ? [] : [['npm install treadle', 'where the files import it from']]),
    [`npx treadle send hello '{"name":"Ada"}'`, 'put a job into the queue'],
    ['npx treadle work', 'run it; Ctrl-C stops'],
    ['npx treadle status', 'what waits, runs and failed'],
  ]
  const lines = steps.map(([command = '', what = '']) => `  ${command.padEnd(40)}  ${what}`.trimEnd())
  return [...created.map((path) => `created ${relative(process.cwd(), path)}`), '', 'Next:', ...lines].join('\n')
}

function isInstalled(folder: string): boolean {
  if (existsSync(join(folder, 'node_modules', 'treadle'))) return true
  const parent = dirname(folder)
  return parent !== folder && isInstalled(parent)
}
