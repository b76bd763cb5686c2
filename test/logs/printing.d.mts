import type { IsolateKind, JobBuilder, Treadle } from 'treadle'

export function defineJobs(jobs: Treadle, kind: IsolateKind): JobBuilder<unknown, unknown>
