import type { IsolateKind, IsolateOptions, JobBuilder, Treadle } from 'treadle'

// biome-ignore lint/suspicious/noExplicitAny: each test knows what its job returns
export type IsolatedJobs = Readonly<Record<string, JobBuilder<any, any>>>
export function defineJobs(jobs: Treadle, kind: IsolateKind, options?: IsolateOptions): IsolatedJobs
