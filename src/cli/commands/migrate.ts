import type { Command } from 'commander'
import { latestVersion } from '../../backends/sqlite/schema.ts'
import { examples } from '../examples.ts'
import { withProject } from '../session.ts'

export function addMigrate(program: Command): void {
  program
    .command('migrate')
    .summary('bring the database up to date')
    .description(
      'Brings the schema of the database up to date. Programs do it themselves when they open it, unless their config says "migrate: false".',
    )
    .addHelpText('after', examples(['migrate', ''], ['migrate --url sqlite:jobs.db', '']))
    .action((_: unknown, command: Command) =>
      withProject(
        command,
        async ({ project, jobs, out }) => {
          const { kind } = await jobs.open()
          const version = kind === 'sqlite' ? latestVersion : null
          const text = version === null ? 'has no schema to bring up to date' : `is up to date: schema version ${version}`
          out.answer({ url: project.url, kind, version }, () => `${project.url} ${text}`)
        },
        { changes: { migrate: true } },
      ),
    )
}
