import type { Command } from 'commander'
import { examples } from '../examples.ts'
import { exitCodes } from '../exit-codes.ts'
import { diagnosisText } from '../output/doctor.ts'
import { refuseMissing } from '../project.ts'
import { withProject } from '../session.ts'

export function addDoctor(program: Command): void {
  program
    .command('doctor')
    .summary('diagnose the database')
    .description(
      'Checks the version of the database, its schema, indexes, permissions, durability settings, clock, connections, long transactions and bloat. It changes nothing. Exits with code 1 if it finds a problem.',
    )
    .option('--strict', 'exit with code 1 for warnings too')
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
