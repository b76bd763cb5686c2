import { Command, type CommanderError } from 'commander'
import { version } from '../core/version.ts'
import { addCheck } from './commands/check.ts'
import { addCompletion } from './commands/completion.ts'
import { addDoctor } from './commands/doctor.ts'
import { addEvents } from './commands/events.ts'
import { addHealth } from './commands/health.ts'
import { addHelp } from './commands/help.ts'
import { addInit } from './commands/init.ts'
import { addCancel } from './commands/jobs/cancel.ts'
import { addDead } from './commands/jobs/dead.ts'
import { addDelete } from './commands/jobs/delete.ts'
import { addHistory } from './commands/jobs/history.ts'
import { addList } from './commands/jobs/list.ts'
import { addLogs } from './commands/jobs/logs.ts'
import { addPromote } from './commands/jobs/promote.ts'
import { addReschedule } from './commands/jobs/reschedule.ts'
import { addRetry } from './commands/jobs/retry.ts'
import { addSend } from './commands/jobs/send.ts'
import { addShow } from './commands/jobs/show.ts'
import { addTree } from './commands/jobs/tree.ts'
import { addWhy } from './commands/jobs/why.ts'
import { addKeys } from './commands/keys.ts'
import { addMigrate } from './commands/migrate.ts'
import { addExport } from './commands/moving/export.ts'
import { addImport } from './commands/moving/import.ts'
import { addMove } from './commands/moving/move.ts'
import { addPause, addResume } from './commands/pause.ts'
import { addPrune } from './commands/prune.ts'
import { addForget } from './commands/schedules/forget.ts'
import { addNext } from './commands/schedules/next.ts'
import { addSchedules } from './commands/schedules/schedules.ts'
import { addTrigger } from './commands/schedules/trigger.ts'
import { addStatus } from './commands/status.ts'
import { addTop } from './commands/top.ts'
import { addDaemon } from './commands/workers/daemon.ts'
import { addManage } from './commands/workers/manage.ts'
import { addReap } from './commands/workers/reap.ts'
import { addRun } from './commands/workers/run.ts'
import { addServe } from './commands/workers/serve.ts'
import { addUnlock } from './commands/workers/unlock.ts'
import { addWork } from './commands/workers/work.ts'
import { addWorkers } from './commands/workers/workers.ts'
import { examples } from './examples.ts'
import { exitCodesHelp } from './exit-codes.ts'
import { helpLayout } from './narrow-help.ts'
import { folded } from './output/text.ts'

/** The whole command line. Errors are thrown, never printed here: the caller prints them in one format. */
export function treadleProgram(): Command {
  const program: Command = new Command('treadle')
    .description('Background jobs and cron on the database you already have.')
    .usage('<command> [options]')
    .version(version, '-V, --version', 'print the version')
    .option('--config <file>', 'the config file (default: treadle.config.ts in this folder or above)')
    .option('--url <url>', 'the database, such as sqlite:treadle.db, instead of the one in the config file')
    .option('--coordination <url>', 'the coordination store beside a broker, instead of the one in the config file')
    .option('--backend <name>', 'one of several backends in the config file, instead of the default one')
    .option('--json', 'print data as JSON, and errors as {"error":{"code","message"}}')
    .option('--no-color', 'disable colours (NO_COLOR works too)')
    .option('--verbose', 'print the stack trace of an error')
    .configureHelp(helpLayout)
    .configureOutput({
      outputError: () => {},
      writeOut: (text) =>
        process.stdout.write(folded(text, process.stdout.isTTY ? process.stdout.columns : Number.POSITIVE_INFINITY)),
      writeErr: (text) => program.opts().json !== true && process.stderr.write(text),
    })
    .showSuggestionAfterError()
    .helpCommand(false)
  for (const [group, adds] of Object.entries(commands)) {
    program.commandsGroup(`${group}:`)
    for (const add of adds) add(program)
  }
  nameHelp(program, [])
  return program.addHelpText('after', `${overview}\n${exitCodesHelp}`)
}

/** An error about what is missing or unknown names the help of its command; one about a value says what it must be. */
function nameHelp(command: Command, path: readonly string[]): void {
  command.exitOverride((error: CommanderError) => {
    const meant = path.length === 0 && error.code === 'commander.unknownCommand' ? commandFor.get(command.args[0]) : undefined
    if (meant !== undefined) error.message = `unknown command '${command.args[0]}' (Did you mean ${meant}?)`
    if (helpful.has(error.code)) error.message += `; see "treadle help${path.map((name) => ` ${name}`).join('')}"`
    throw error
  })
  for (const child of command.commands) nameHelp(child, [...path, child.name()])
}

/** What others call a command, where the spelling would suggest another one or none. */
const commandFor: ReadonlyMap<string | undefined, string> = new Map([
  ['dashboard', 'serve'],
  ['ui', 'serve'],
  ['server', 'serve'],
  ['start', 'work'],
  ['worker', 'work'],
  ['dispatch', 'send'],
  ['enqueue', 'send'],
  ['ls', 'list'],
  ['jobs', 'list'],
  ['replay', 'dead replay'],
])

const helpful = new Set(
  [
    'missingArgument',
    'missingMandatoryOptionValue',
    'optionMissingArgument',
    'unknownOption',
    'unknownCommand',
    'excessArguments',
  ].map((code) => `commander.${code}`),
)

/** In groups, in the order in which the help shows them. */
const commands: Readonly<Record<string, readonly ((program: Command) => void)[]>> = {
  'Setting up': [addInit, addCheck, addMigrate, addDoctor, addKeys],
  'Sending and running jobs': [addSend, addWork, addRun, addDaemon, addServe, addManage],
  'Looking at the queue': [addStatus, addHealth, addTop, addEvents, addWorkers],
  'Looking at jobs': [addList, addShow, addLogs, addWhy, addTree, addHistory],
  'Acting on jobs': [addRetry, addCancel, addPromote, addReschedule, addDelete, addDead, addPause, addResume],
  Schedules: [addNext, addSchedules, addTrigger, addForget],
  'Housekeeping and moving': [addPrune, addReap, addUnlock, addMove, addExport, addImport],
  'Completion and help': [addCompletion, addHelp],
}

const overview = examples(
  ['init', 'create a project that runs'],
  [`send hello '{"name":"Ada"}'`, 'put a job into the queue'],
  ['work', 'run jobs and follow schedules until Ctrl-C'],
  ['status', 'waiting, running and failed jobs'],
  ['list --state dead --json | jq', 'failed jobs, as JSON'],
)
