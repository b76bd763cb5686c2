export const exitCodes = {
  ok: 0,
  /** The command failed, or found a problem. */
  failed: 1,
  usage: 2,
  /** Only `run`: see `--fail-on`. */
  deadJobs: 3,
  notFound: 4,
  /** Only with `--single`. */
  locked: 5,
  interrupted: 130,
} as const

export const exitCodesHelp = `
Exit codes:
  0    it worked
  1    it failed, a problem was found, or a question was answered with no
  2    wrong usage: an unknown command or option, or a value or expression that cannot be read
  3    jobs died in this pass of "run" (see --fail-on)
  4    there is no such job, schedule, key or database
  5    another scheduler has the lock, with --single
  130  interrupted by Ctrl-C`
