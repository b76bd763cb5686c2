import { Command } from 'commander'
import { version } from '../core/version.ts'
import { addCancel } from './commands/cancel.ts'
import { addCheck } from './commands/check.ts'
import { addDaemon } from './commands/daemon.ts'
import { addDead } from './commands/dead.ts'
import { addDoctor } from './commands/doctor.ts'
import { addForget } from './commands/forget.ts'
import { addHelp } from './commands/help.ts'
import { addInit } from './commands/init.ts'
import { addKeys } from './commands/keys.ts'
import { addList } from './commands/list.ts'
import { addManage } from './commands/manage.ts'
import { addMigrate } from './commands/migrate.ts'
import { addNext } from './commands/next.ts'
import { addPause, addResume } from './commands/pause.ts'
import { addPrune } from './commands/prune.ts'
import { addRetry } from './commands/retry.ts'
import { addRun } from './commands/run.ts'
import { addSend } from './commands/send.ts'
import { addServe } from './commands/serve.ts'
import { addShow } from './commands/show.ts'
import { addStatus } from './commands/status.ts'
import { addTree } from './commands/tree.ts'
import { addTrigger } from './commands/trigger.ts'
import { addWhy } from './commands/why.ts'
import { addWork } from './commands/work.ts'
import { addWorkers } from './commands/workers.ts'
import { examples } from './examples.ts'
import { exitCodesHelp } from './exit-codes.ts'

/** The whole command line. Errors are thrown and never printed here: the caller says them in one form. */
export function treadleProgram(): Command {
  const program = new Command('treadle')
    .description('Background jobs and cron on the database you already have.')
    .usage('<command> [options]')
    .version(version, '-V, --version', 'print the version')
    .option('--config <file>', 'the config file (default: treadle.config.ts here or in a folder above)')
    .option('--url <url>', 'the database, such as sqlite:treadle.db, in place of the one in the config file')
    .option('--json', 'print data as JSON, and errors as {"error":{"code","message"}}')
    .option('--no-color', 'print without colours (NO_COLOR is respected too)')
    .option('--verbose', 'print the stack of an error')
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({ outputError: () => {} })
    .exitOverride()
    .showSuggestionAfterError()
    .helpCommand(false)
  for (const add of commands) add(program)
  return program.addHelpText('after', `${overview}\n${exitCodesHelp}`)
}

const commands = [
  addInit,
  addCheck,
  addWork,
  addRun,
  addDaemon,
  addServe,
  addManage,
  addSend,
  addStatus,
  addWorkers,
  addList,
  addShow,
  addWhy,
  addTree,
  addNext,
  addTrigger,
  addRetry,
  addCancel,
  addDead,
  addPause,
  addResume,
  addForget,
  addPrune,
  addMigrate,
  addKeys,
  addDoctor,
  addHelp,
]

const overview = examples(
  ['init', 'make a config file and a first job'],
  [`send hello '{"name":"Ada"}'`, 'put a job into the queue'],
  ['work', 'run jobs and follow schedules until Ctrl-C'],
  ['status', 'what waits, runs and failed'],
  ['list --state dead --json | jq', 'for programs'],
)
