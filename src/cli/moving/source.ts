import type { Command } from 'commander'
import { type BackendPlace, coordinationAt } from '../../app/config/backend-place.ts'
import { workingFolder } from '../../core/process/environment.ts'
import type { QueueBackend } from '../../queue/contract/contract.ts'
import type { Output } from '../output/output.ts'
import { keyFileFor, refuseMissing } from '../project.ts'
import { type GlobalOptions, withOutput, withProject } from '../session.ts'

/**
 * Runs a command on the given queue, or on that of the project. A broker may have a coordination store beside it. `keyFile` is
 * the key file beside a SQLite queue.
 */
export async function withSource(
  command: Command,
  url: string | undefined,
  run: (queue: BackendPlace | QueueBackend, out: Output, keyFile: string | null) => Promise<number>,
): Promise<void> {
  if (url !== undefined) {
    const { coordination } = command.optsWithGlobals<GlobalOptions>()
    const place = { url, ...(coordination === undefined ? coordinationAt(url, {}) : { coordination }) }
    return withOutput(command, ({ out }) => run(place, out, keyFileFor(url, workingFolder())))
  }
  return withProject(command, async ({ project, jobs, out }) => {
    refuseMissing(project.missingFile)
    return run(await jobs.open(), out, project.keyFile)
  })
}
