import { expect } from 'vitest'
import { type Example, freePort } from './example.ts'

/** What every example of a web server does: dispatch for a request, show the dashboard and let it act, and stop in order. */
export async function expectWebServer(
  example: Example,
  args: readonly string[],
  until: string,
  path = '/signup',
  env: Readonly<Record<string, string>> = {},
): Promise<void> {
  const port = await freePort()
  const server = await example.start(args, until, { PORT: String(port), HOST: '127.0.0.1', ...env })
  const origin = `http://127.0.0.1:${port}`
  const json = { 'content-type': 'application/json' }
  const answer = await fetch(`${origin}${path}`, { method: 'POST', headers: json, body: '{"email":"ada@example.com"}' })
  const body = await answer.text()
  expect(answer.status, `${server.output()}${body}`).toBe(202)
  expect(JSON.parse(body)).toEqual({ id: expect.any(String) })
  for (const page of ['/admin/jobs', '/admin/jobs/', '/admin/jobs/schedules']) {
    const shown = await fetch(`${origin}${page}`)
    expect([shown.status, await shown.text()]).toEqual([200, expect.stringContaining('data-base="/admin/jobs"')])
  }
  const preview = await fetch(`${origin}/admin/jobs/-/preview`, {
    method: 'POST',
    headers: { ...json, 'sec-fetch-site': 'same-origin', 'x-treadle': '1' },
    body: '{"filter":"job:send-welcome"}',
  })
  expect(await preview.json(), server.output()).toMatchObject({ count: 1 })
  const { exit, output } = await server.stop()
  expect([0, 143, 'SIGTERM'], output).toContain(exit)
  expect(output).not.toMatch(/error/i)
}
