#!/usr/bin/env node
import { CommanderError } from 'commander'
import { refuseOldNode } from '../core/process/node-version.ts'
import { systemClock } from '../core/time/clock.ts'
import { version } from '../core/version.ts'
import { exitCodes } from './exit-codes.ts'
import { failureOf, failureText, UsageError } from './failure.ts'
import { exitOnInterrupt, tolerateClosedPipes } from './working/signals.ts'

const lingerMs = 500

process.on('exit', refuseEarlyExit)
const exitCode = await main(process.argv.slice(2))
process.off('exit', refuseEarlyExit)
process.exitCode = exitCode
// A process that ends by itself closes its files cleanly. But jobs may have opened connections and timers of their own,
// which must not keep a finished command running.
systemClock.timer(lingerMs, () => process.exit(exitCode), { unref: true })

/** A handler may call `process.exit(0)`, which cron and supervisors would take for success. */
function refuseEarlyExit(code: number): void {
  if (code !== exitCodes.ok) return
  const what = 'something in this process called process.exit() before the command was done'
  process.stderr.write(`treadle: ${what}. A job that was running is run again when its lease ends.\n`)
  process.exitCode = exitCodes.failed
}

async function main(args: readonly string[]): Promise<number> {
  tolerateClosedPipes((error) => tell(new Error(`the output cannot be written: ${error.message}`, { cause: error }), args))
  exitOnInterrupt()
  // Often called by scripts, so answer without loading the commands.
  if (args.length === 1 && (args[0] === '--version' || args[0] === '-V')) {
    process.stdout.write(`${version}\n`)
    return exitCodes.ok
  }
  try {
    refuseOldNode()
    const { treadleProgram } = await import('./program.ts')
    await treadleProgram().parseAsync(args, { from: 'user' })
    return Number(process.exitCode ?? exitCodes.ok)
  } catch (thrown) {
    return tell(thrown, args)
  }
}

function tell(thrown: unknown, args: readonly string[]): number {
  // Commander also throws after printing a help text or the version; there is nothing left to print then.
  const options = { json: args.includes('--json'), verbose: args.includes('--verbose') }
  if (thrown instanceof CommanderError && thrown.exitCode === 0) return exitCodes.ok
  const isHelp = thrown instanceof CommanderError && thrown.code === 'commander.help'
  if (isHelp && !options.json) return exitCodes.usage
  const failure = failureOf(isHelp ? new UsageError('a command is missing; "treadle help" lists them') : thrown)
  process.stderr.write(`${failureText(failure, thrown, options)}\n`)
  return failure.exitCode
}
