#!/usr/bin/env node
import { CommanderError } from 'commander'
import { systemClock } from '../core/clock.ts'
import { exitCodes } from './exit-codes.ts'
import { failureOf, failureText } from './failure.ts'
import { treadleProgram } from './program.ts'
import { exitOnInterrupt, tolerateClosedPipes } from './signals.ts'

const lingerMs = 500

const exitCode = await main(process.argv.slice(2))
process.exitCode = exitCode
// A process that ends by itself closes its files best. But jobs may have opened connections and timers of their own, which must
// not keep a command that is done from ending.
systemClock.timer(lingerMs, () => process.exit(exitCode), { unref: true })

async function main(args: readonly string[]): Promise<number> {
  tolerateClosedPipes()
  exitOnInterrupt()
  try {
    await treadleProgram().parseAsync(args, { from: 'user' })
    return Number(process.exitCode ?? exitCodes.ok)
  } catch (thrown) {
    return tell(thrown, args)
  }
}

function tell(thrown: unknown, args: readonly string[]): number {
  // Commander throws also after it printed a help text or the version, which is then all there is to say.
  if (thrown instanceof CommanderError && thrown.code === 'commander.help' && thrown.exitCode !== 0) return exitCodes.usage
  if (thrown instanceof CommanderError && thrown.exitCode === 0) return exitCodes.ok
  const failure = failureOf(thrown)
  const options = { json: args.includes('--json'), verbose: args.includes('--verbose') }
  process.stderr.write(`${failureText(failure, thrown, options)}\n`)
  return failure.exitCode
}
