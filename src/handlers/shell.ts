import { type Argv, type ProgramHandler, type ProgramOptions, programHandler } from './program.ts'

/**
 * Runs a program: `shell(['/usr/bin/pg_dump', 'app'])`, or with arguments from the payload, `shell(({ file }) => ['gzip', '--', file])`.
 * The arguments reach the program as they are: there is no shell that could read them as anything else.
 *
 * The program sees `PATH`, `HOME`, `LANG`, `TZ` and `TMPDIR` of the worker and what the option `env` gives it, and nothing else.
 * When the run is aborted, the program and all that it started are ended. Otherwise the run ends when the program exits; what it
 * left behind in the background lives on, but is not heard any more.
 *
 * Any exit code but 0 fails the attempt; a program that cannot be started is not tried again. The job runs only on queues whose
 * allowlist names it.
 */
export function shell<Payload = unknown>(argv: Argv<Payload>, options: ProgramOptions = {}): ProgramHandler<Payload> {
  return programHandler('shell', argv, options, (given) => given)
}
