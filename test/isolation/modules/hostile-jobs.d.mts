export { defineJobs } from './isolated-jobs.mjs'
export const garbage: Readonly<Record<string, unknown>>
