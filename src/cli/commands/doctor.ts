import type { Command } from 'commander'
import { examples } from '../examples.ts'
import { exitCodes } from '../exit-codes.ts'
import { diagnosisText } from '../output/doctor.ts'
import { refuseMissing } from '../project.ts'
import { withProject } from '../session.ts'

export function addDoctor(program: Command): void {
  program
    .command('doctor')
    .summary('look for what is wrong with the database')
    .description(
      'Looks at the database: its version, schema, indexes, rights, settings of durability, clock, connections, long transactions and what they leave behind. It changes nothing. Ends with exit code 1 when there is a problem.',
    )
    .option('--strict', 'end with exit code 1 for warnings too')
    .addHelpText(
      'after',
      examples(['doctor', ''], ['doctor --url postgres://app@db/app', ''], ['doctor --strict --json', 'for a monitor']),
    )
    .action(({ strict = false }: { readonly strict?: boolean }, command: Command) =>
      withProject(command, async ({ project, jobs, out }) => {
        refuseMissing(project.missingFile)
        const upkeep = await jobs.upkeep()
        const { kind } = upkeep ?? (await jobs.open())
        const findings = (await upkeep?.diagnose()) ?? []
        out.answer({ url: project.url, kind, findings }, () => diagnosisText(project.url, findings, out))
        const bad = strict ? ['problem', 'warning'] : ['problem']
        return findings.some(({ verdict }) => bad.includes(verdict)) ? exitCodes.failed : exitCodes.ok
      }),
    )
}
