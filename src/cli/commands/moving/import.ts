import { accessSync, constants, createWriteStream } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { Command } from 'commander'
import { messageOf } from '../../../core/errors.ts'
import { environmentVariable } from '../../../core/process/environment.ts'
import { importJobs } from '../../../moving/index.ts'
import type { QueueBackend } from '../../../queue/contract/contract.ts'
import { examples } from '../../examples.ts'
import { exitCodes } from '../../exit-codes.ts'
import { UsageError } from '../../failure.ts'
import { progressWriter } from '../../output/moving/move-progress.ts'
import { refusalLines } from '../../output/moving/move-report.ts'
import type { Output } from '../../output/output.ts'
import { plural, visible } from '../../output/text.ts'
import { withOutput, withProject } from '../../session.ts'
import { stopRequest } from '../../working/signals.ts'

export function addImport(program: Command): void {
  program
    .command('import')
    .summary('read a queue from a file')
    .description(
      'Stores the jobs, schedules and keys of an export. The whole file is checked first, and nothing is stored if a line is wrong. Jobs that were already imported from the same file are skipped.',
    )
    .argument('[file]', 'a file of "treadle export"; standard input by default')
    .option('--to <url>', 'where they go; the queue of the project by default')
    .addHelpText(
      'after',
      examples(
        ['import jobs.jsonl --to postgres://localhost/app', ''],
        ['export | ssh other treadle import', 'to another machine'],
      ),
    )
    .action((file: string | undefined, { to }: { readonly to?: string }, command: Command) => {
      if (file !== undefined) refuseUnreadable(file)
      if (to !== undefined) return withOutput(command, ({ out }) => importFrom(file, to, out))
      return withProject(command, async ({ jobs, out }) => importFrom(file, await jobs.open(), out))
    })
}

function refuseUnreadable(file: string): void {
  try {
    accessSync(file, constants.R_OK)
  } catch (thrown) {
    throw new UsageError(`${file} cannot be read: ${messageOf(thrown)}`)
  }
}

async function importFrom(file: string | undefined, to: string | QueueBackend, out: Output): Promise<number> {
  if (file !== undefined) return importFile(file, to, out)
  // The input is read twice, so keep a copy.
  const folder = await mkdtemp(join(environmentVariable('TMPDIR') ?? '/tmp', 'treadle-import-'))
  try {
    const copy = join(folder, 'jobs.jsonl')
    await pipeline(process.stdin, createWriteStream(copy, { mode: 0o600 }))
    return await importFile(copy, to, out)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function importFile(from: string, to: string | QueueBackend, out: Output): Promise<number> {
  const { signal } = stopRequest(() => out.note('stopping'))
  const report = await importJobs({ from, to, signal, onProgress: progressWriter(out) })
  out.answer(report, () => {
    const lines = [`imported ${plural(report.jobs, 'job')}`, ...refusalLines(report.refused, report.refusedJobs)]
    return lines.map(visible).join('\n')
  })
  if (signal.aborted) return exitCodes.interrupted
  return report.refused.length === 0 ? exitCodes.ok : exitCodes.failed
}
