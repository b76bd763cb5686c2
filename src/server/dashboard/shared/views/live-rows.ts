import type { JobRow } from './job.ts'

/** More rows than this do not change by themselves. */
export const mostLiveRows = 50

/** By id; null if the job is gone. */
export type LiveRows = Readonly<Record<string, JobRow | null>>
