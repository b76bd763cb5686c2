import type { Command } from 'commander'
import type { QueueBackend } from '../../queue/contract/contract.ts'
import type { Output } from '../output/output.ts'
import { refuseMissing } from '../project.ts'
import { withOutput, withProject } from '../session.ts'

/** Runs a command on the given queue, or on that of the project. */
export async function withSource(
  command: Command,
  url: string | undefined,
  run: (queue: string | QueueBackend, out: Output) => Promise<number>,
): Promise<void> {
  if (url !== undefined) return withOutput(command, ({ out }) => run(url, out))
  return withProject(command, async ({ project, jobs, out }) => {
    refuseMissing(project.missingFile)
    return run(await jobs.open(), out)
  })
}
