import { appendFileSync, cpSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { Example, freePort, PackedPackage } from '../example.ts'
import { expectWebServer } from '../web-example.ts'

let packed: PackedPackage
beforeAll(() => {
  packed = new PackedPackage()
})
afterAll(() => packed[Symbol.dispose]())

/** Installed from the registry as its users do. Where there is none, the test is skipped, and says why. */
function installed(name: string, skip: (why: string) => void): Example {
  const example = new Example(packed, name)
  onTestFinished(() => example.end())
  const problem = example.install(packed)
  if (problem !== null) skip(problem)
  return example
}

describe('the example for', () => {
  test('NestJS dispatches in a controller, and a worker runs the method of a provider', async ({ skip }) => {
    const example = installed('nestjs', skip)
    await example.run(process.execPath, ['node_modules/typescript/bin/tsc'])
    await expectWebServer(example, ['dist/main.js'], 'listening')
    const worker = await example.start(['dist/worker.js'], 'to ada@example.com: Welcome! (attempt 1)')
    expect(await worker.stop()).toMatchObject({ exit: 0 })
    expect(await example.treadle('list', '--state', 'succeeded')).toContain('send-welcome')
  })

  test('React Router compiles and builds, dispatches in an action and in a resource route, and a worker runs the jobs', async ({
    skip,
  }) => {
    const example = installed('react-router', skip)
    const cli = 'node_modules/@react-router/dev/bin.js'
    await example.run(process.execPath, [cli, 'typegen'])
    await example.run(process.execPath, ['node_modules/typescript/bin/tsc'])
    await example.run(process.execPath, [cli, 'build'])
    const serve = ['node_modules/@react-router/serve/bin.js', './build/server/index.js']
    await expectWebServer(example, serve, 'react-router-serve', '/signup', { NODE_ENV: 'development' })
    expect(await example.treadle('run')).toContain('Welcome, ada@example.com!')
  })

  test('Nuxt builds a server that dispatches and shows the dashboard where only its output was copied to', async ({ skip }) => {
    const example = installed('nuxt', skip)
    await example.run(process.execPath, ['node_modules/nuxt/bin/nuxt.mjs', 'build'])
    const copy = join(example.folder, 'deployed')
    cpSync(join(example.folder, '.output'), copy, { recursive: true })
    const port = await freePort()
    const queue = { TREADLE_URL: `sqlite:${join(example.folder, 'treadle.db')}` }
    const server = await example.start([join(copy, 'server/index.mjs')], 'Listening', {
      ...queue,
      PORT: String(port),
      HOST: '127.0.0.1',
    })
    const origin = `http://127.0.0.1:${port}`
    expect(await signUp(origin, '/api/signup'), server.output()).toBe(202)
    for (const page of ['/admin/jobs', '/admin/jobs/schedules']) {
      const shown = await fetch(`${origin}${page}`)
      // Its authorize() refuses everyone in production.
      expect([shown.status, await shown.text()]).toEqual([401, expect.stringContaining('data-base="/admin/jobs"')])
    }
    const script = /src="([^"]+)"/.exec(await (await fetch(`${origin}/admin/jobs`)).text())?.[1]
    expect((await fetch(`${origin}${script}`)).status).toBe(200)
    expect((await fetch(`${origin}/admin/jobs/-/jobs`)).status).toBe(401)
    await server.stop()
    expect(await example.treadle('run')).toContain('Welcome, ada@example.com!')
  })

  test('Next.js builds with a job file that a route and a page import, dispatches in both, and a worker runs the jobs', async ({
    skip,
  }) => {
    const example = installed('nextjs', skip)
    await example.run(process.execPath, [next, 'build'])
    const port = await freePort()
    const server = await example.start([next, 'start', '-p', String(port), '-H', '127.0.0.1'], 'Ready')
    const origin = `http://127.0.0.1:${port}`
    expect(await signUp(origin)).toBe(202)
    const page = await (await fetch(origin)).text()
    const form = new FormData()
    form.set(/name="(\$ACTION_ID_\w+)"/.exec(page)?.[1] ?? '', '')
    form.set('email', 'grace@example.com')
    expect((await fetch(origin, { method: 'POST', body: form })).status, server.output()).toBe(200)
    const dashboard = await fetch(`${origin}/admin/jobs/`)
    const html = await dashboard.text()
    expect([dashboard.status, html]).toEqual([401, expect.stringContaining('data-base="/admin/jobs"')])
    const script = /src="([^"]+main-[^"]+)"/.exec(html)?.[1]
    expect(await (await fetch(`${origin}${script}`)).text()).toMatch(/^import\{/)
    await server.stop()
    const output = await example.treadle('run')
    expect(output).toContain('Welcome, ada@example.com!')
    expect(output).toContain('Welcome, grace@example.com!')
  })

  test('Next.js goes on dispatching in development when the job file is edited', async ({ skip }) => {
    const example = installed('nextjs', skip)
    const port = await freePort()
    const server = await example.start([next, 'dev', '-p', String(port), '-H', '127.0.0.1'], 'Ready')
    const origin = `http://127.0.0.1:${port}`
    expect(await signUp(origin), server.output()).toBe(202)
    expect((await fetch(origin)).status, server.output()).toBe(200)
    for (const edit of [1, 2]) {
      appendFileSync(join(example.folder, 'jobs/send-welcome.ts'), `// edit ${edit}\n`)
      await expect.poll(() => server.output().split('✓ Compiled').length, { timeout: 120_000 }).toBeGreaterThan(edit)
      expect(await signUp(origin), server.output()).toBe(202)
      expect((await fetch(origin)).status, server.output()).toBe(200)
    }
    await server.stop()
  })
})

const next = 'node_modules/next/dist/bin/next'

async function signUp(origin: string, path = '/api/welcome'): Promise<number> {
  const headers = { 'content-type': 'application/json' }
  const body = '{"email":"ada@example.com"}'
  const answer = await fetch(`${origin}${path}`, { method: 'POST', headers, body })
  await answer.arrayBuffer()
  return answer.status
}
