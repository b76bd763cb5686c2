import { type Command, Option } from 'commander'
import { examples } from '../examples.ts'
import { exitCodes } from '../exit-codes.ts'
import { UsageError } from '../failure.ts'
import { canAsk, confirm } from '../prompt.ts'
import { type ProjectSession, withProject } from '../session.ts'
import { wholeNumber } from '../values.ts'

interface MigrateOptions {
  readonly plan?: boolean
  readonly to?: number
  readonly down?: number
  readonly yes?: boolean
}

export function addMigrate(program: Command): void {
  program
    .command('migrate')
    .summary('migrate the database schema')
    .description(
      'Migrates the database schema to the newest version. Programs do this themselves when they open the queue, unless their config says "migrate: false".',
    )
    .option('--plan', 'print the SQL without running it')
    .addOption(
      new Option('--to <version>', 'migrate to this version instead of the newest').argParser(wholeNumber(0)).conflicts('down'),
    )
    .addOption(new Option('--down <n>', 'number of versions to go back').argParser(wholeNumber(1)))
    .option('--yes', 'with --to and --down: skip the confirmation; required without a terminal')
    .addHelpText(
      'after',
      examples(
        ['migrate', ''],
        ['migrate --url sqlite:jobs.db', ''],
        ['migrate --plan > schema.sql', 'for your database administrator'],
        ['migrate --down 1', 'asks for confirmation'],
      ),
    )
    .action((options: MigrateOptions, command: Command) => withProject(command, (session) => migrate(session, options)))
}

async function migrate(session: ProjectSession, options: MigrateOptions): Promise<number> {
  const { project, jobs, out } = session
  const upkeep = await jobs.upkeep()
  if (upkeep === null) {
    const { kind } = await jobs.open()
    out.answer({ url: project.url, kind, version: null }, () => `${project.url} has no schema to migrate`)
    return exitCodes.ok
  }
  const { kind, schema } = upkeep
  const { version } = await schema.state()
  const to = namedVersion({ version, latest: schema.latest }, options)
  if (options.plan === true) {
    const sql = await schema.plan(to)
    out.answer({ url: project.url, kind, version, sql }, () => sql || `-- nothing to do: schema version ${version}`)
    return exitCodes.ok
  }
  if (to !== undefined && to < version && !(await isMeant(version, to, options))) {
    out.note('nothing was changed')
    return exitCodes.failed
  }
  const state = await schema.migrate(to)
  out.answer({ url: project.url, kind, version: state.version }, () => {
    return `${project.url} ${state.version < schema.latest ? 'has' : 'is up to date:'} schema version ${state.version}`
  })
  return exitCodes.ok
}

function namedVersion(known: { version: number; latest: number }, { to, down }: MigrateOptions): number | undefined {
  const { version, latest } = known
  if (to !== undefined && to > latest) {
    throw new UsageError(`--to ${to}: there is no such schema version; this Treadle knows 0 (none) to ${latest}`)
  }
  if (down === undefined) return to
  if (down <= version) return version - down
  throw new UsageError(`--down ${down}: the schema has version ${version}`)
}

async function isMeant(version: number, to: number, { yes = false }: MigrateOptions): Promise<boolean> {
  if (yes) return true
  if (!canAsk()) throw new UsageError('this deletes data of newer versions: add --yes to skip the confirmation')
  const loss = to === 0 ? 'all jobs and schedules' : `the data added by versions ${to + 1} to ${version}`
  return confirm(`Migrate the schema back from version ${version} to ${to}? This deletes ${loss}.`)
}
