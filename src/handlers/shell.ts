import { type Argv, type ProgramHandler, type ProgramOptions, programHandler } from './program.ts'

/**
 * Runs a program: `shell(['/usr/bin/pg_dump', 'app'])`, or with arguments from the payload,
 * `shell(({ file }) => ['gzip', '--', file])`. The arguments are passed to the program unchanged: no shell interprets them.
 *
 * The program's environment contains `PATH`, `HOME`, `LANG`, `TZ` and `TMPDIR` of the worker and the variables in the option
 * `env`, nothing else. If the run is aborted, the program and all processes that it started are ended. Otherwise the run ends
 * when the program exits. Background processes that it leaves behind continue to run, but their output is ignored.
 *
 * Any exit code other than 0 fails the attempt. A program that cannot be started is not retried. The job runs only on queues
 * whose allowlist names it.
 */
export function shell<Payload = unknown>(argv: Argv<Payload>, options: ProgramOptions = {}): ProgramHandler<Payload> {
  return programHandler('shell', argv, options, (given) => given)
}
