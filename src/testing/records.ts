import type { JobFilter, JobRecord, JobStore } from '../queue/contract/store.ts'

const pageSize = 500

/** All jobs that match the filter, newest first, page by page. */
export async function* everyRecord(store: JobStore, filter: Omit<JobFilter, 'limit' | 'before'>): AsyncGenerator<JobRecord> {
  let page = await store.list({ ...filter, limit: pageSize })
  while (page.length > 0) {
    yield* page
    const last = page.at(-1)
    if (last === undefined || page.length < pageSize) return
    page = await store.list({ ...filter, limit: pageSize, before: last.id })
  }
}
