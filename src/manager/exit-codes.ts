/** The exit code of a worker that wants its job retried later: EX_TEMPFAIL from sysexits. */
export const retryExitCode = 75

/** The exit code of a worker whose promise can no longer be settled: Node's own for such an await at the top level. */
export const unsettledExitCode = 13
