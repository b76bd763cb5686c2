/** The exit code of a worker that wants its job retried later: EX_TEMPFAIL from sysexits. */
export const retryExitCode = 75
