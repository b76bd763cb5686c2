import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import { treadle } from '../../dist/index.js'
import { serve } from '../../dist/server/index.js'
import { scratchFolder } from '../processes/database.ts'
import { mounted, ofPage, silent } from './mounted.ts'

const folder = scratchFolder()
afterAll(() => folder.remove())

interface Page {
  readonly jobs: readonly { readonly id: string }[]
  readonly next: string | null
}

describe.each(['memory:', `sqlite:${folder.file('pages.db')}`])('a list of a queue in %s', (url) => {
  test('is paged to its end while retention deletes behind it, without an error, a gap or a repeat', async () => {
    const jobs = treadle(url, { logger: silent })
    const shown = await mounted(jobs)
    onTestFinished(async () => {
      await shown[Symbol.asyncDispose]()
      await jobs.close()
    })
    jobs.define('send', async () => {})
    await jobs.dispatchMany(
      'send',
      Array.from({ length: 180 }, (_, n) => n),
    )
    await jobs.run({ concurrency: 50 })
    const store = await jobs.store()
    const all = (await store.list({ limit: 1_000 })).map(({ id }) => id)
    const seen: string[] = []
    let cursor: string | null = null
    do {
      const asked: URLSearchParams = new URLSearchParams({ q: 'job:send', ...(cursor !== null && { cursor }) })
      const answer = await fetch(`${shown.origin}/-/jobs?${asked}`, { headers: ofPage })
      expect(answer.status).toBe(200)
      const page = (await answer.json()) as Page
      const ids = page.jobs.map(({ id }) => id)
      seen.push(...ids)
      // All that this page has shown goes away, with the job where the next page begins.
      await store.remove({ state: 'succeeded', ids, limit: 1_000 })
      cursor = page.next
    } while (cursor !== null)
    expect(seen).toEqual(all)
    expect(await store.list({ limit: 10 })).toEqual([])
  })
})

test('codes that are guessed are answered ever later, and then not looked at', async () => {
  const jobs = treadle('memory:', { logger: silent })
  const server = await serve(jobs, { port: null, httpPort: 0, token: 'the-token-of-this-test-alone' })
  onTestFinished(async () => {
    await server.stop({ graceMs: 1_000 })
    await jobs.close()
  })
  const guess = (n: number) =>
    fetch(`http://127.0.0.1:${server.httpAddress?.port}/-/login`, {
      method: 'POST',
      headers: ofPage,
      body: JSON.stringify({ code: `guess-${n}` }),
    }).then(({ status }) => status)
  const answers = await Promise.all(Array.from({ length: 200 }, (_, n) => guess(n)))
  expect(new Set(answers)).toEqual(new Set([401, 429]))
})
