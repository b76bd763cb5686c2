/** What a worker exits with that wants its job to be tried again later: EX_TEMPFAIL of sysexits. */
export const retryExitCode = 75
