import type { Command } from 'commander'
import { type BackendPlace, coordinationAt } from '../../app/config/backend-place.ts'
import type { QueueBackend } from '../../queue/contract/contract.ts'
import type { Output } from '../output/output.ts'
import { refuseMissing } from '../project.ts'
import { type GlobalOptions, withOutput, withProject } from '../session.ts'

/** Runs a command on the given queue, or on that of the project. A broker may have a coordination store beside it. */
export async function withSource(
  command: Command,
  url: string | undefined,
  run: (queue: BackendPlace | QueueBackend, out: Output) => Promise<number>,
): Promise<void> {
  if (url !== undefined) {
    const { coordination } = command.optsWithGlobals<GlobalOptions>()
    const place = { url, ...(coordination === undefined ? coordinationAt(url, {}) : { coordination }) }
    return withOutput(command, ({ out }) => run(place, out))
  }
  return withProject(command, async ({ project, jobs, out }) => {
    refuseMissing(project.missingFile)
    return run(await jobs.open(), out)
  })
}
