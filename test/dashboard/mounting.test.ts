import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import express from 'express'
import Fastify from 'fastify'
import { Hono } from 'hono'
import Koa from 'koa'
import { describe, expect, onTestFinished, test } from 'vitest'
import { treadle } from '../../dist/index.js'
import { type Dashboard, type DashboardOptions, dashboard } from '../../dist/server/dashboard/index.js'

const base = '/admin/jobs'
const own = { 'sec-fetch-site': 'same-origin', 'x-treadle': '1', 'content-type': 'application/json' }

function mounted(options: Partial<DashboardOptions> = {}) {
  const jobs = treadle('memory:')
  const shown = dashboard(jobs, {
    authorize: (request) => {
      const role = request.headers.get('x-role')
      return role === 'read' || role === 'operate' ? { role, user: 'ada' } : null
    },
    basePath: base,
    ...options,
  })
  onTestFinished(async () => {
    await shown.close()
    await jobs.close()
  })
  return { jobs, shown }
}

async function listening(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** Each framework as its users mount things in it. */
const hosts: Readonly<Record<string, (shown: Dashboard) => Promise<string>>> = {
  express: (shown) => listening(express().use(express.json()).use(base, shown.node)),
  koa: (shown) => {
    const app = new Koa()
    app.use(async (context, next) => {
      if (!context.path.startsWith(base)) return next()
      context.respond = false
      await shown.node(context.req, context.res)
    })
    return listening(app.callback())
  },
  fastify: async (shown) => {
    const app = Fastify()
    app.register(async (scope) => {
      scope.removeAllContentTypeParsers()
      scope.addContentTypeParser('*', (_request, _payload, done) => done(null))
      scope.all(`${base}*`, async (request, reply) => {
        reply.hijack()
        await shown.node(request.raw, reply.raw)
      })
    })
    await app.ready()
    onTestFinished(() => app.close())
    return listening((request, response) => app.routing(request, response))
  },
  hono: async (shown) => {
    const { getRequestListener } = await import('@hono/node-server')
    const app = new Hono()
      .all(`${base}/*`, (context) => shown.fetch(context.req.raw))
      .all(base, (context) => shown.fetch(context.req.raw))
    return listening(getRequestListener(app.fetch))
  },
  'a route of Next.js': async (shown) => {
    const { getRequestListener } = await import('@hono/node-server')
    // What app/admin/jobs/[[...path]]/route.ts exports.
    const route = { GET: shown.fetch, POST: shown.fetch, PATCH: shown.fetch, DELETE: shown.fetch }
    return listening(
      getRequestListener(async (request) => {
        const answer = await route[request.method as keyof typeof route](request)
        // Next.js drops these, because it compresses by itself.
        for (const name of ['content-encoding', 'content-length', 'transfer-encoding']) answer.headers.delete(name)
        return answer
      }),
    )
  },
}

describe.each(Object.entries(hosts))('mounted in %s', (_, host) => {
  test('it shows its page and its files under the path, and asks the host who looks', async () => {
    const { jobs, shown } = mounted()
    const origin = await host(shown)
    const job = await jobs.define('hello', async () => {}).dispatch({ large: 1 }, { delay: '1h' })
    for (const path of ['', '/', '/jobs', `/jobs/${job.id}`]) {
      expect((await fetch(`${origin}${base}${path}`)).status, path).toBe(401)
      expect((await fetch(`${origin}${base}${path}`, { headers: { 'x-role': 'read' } })).status, path).toBe(200)
    }
    const page = await (await fetch(`${origin}${base}/jobs/${job.id}`, { headers: { 'x-role': 'read' } })).text()
    expect(page).toContain(`data-base="${base}"`)
    const script = /src="([^"]+main-[^"]+)"/.exec(page)?.[1] ?? ''
    const answer = await fetch(origin + script)
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/javascript; charset=utf-8'])
    const file = new URL(`../../dist/server/dashboard/page/${script.split('/').at(-1)}`, import.meta.url)
    expect(await answer.text()).toBe(readFileSync(file, 'utf8'))
    expect((await fetch(`${origin}${base}/-/me`)).status).toBe(401)
    const me = await fetch(`${origin}${base}/-/me`, { headers: { 'x-role': 'read' } })
    expect(await me.json()).toMatchObject({ role: 'read', user: 'ada', backend: 'memory' })
    expect(me.headers.get('content-security-policy')).toContain("default-src 'none'")
  })

  test('it does what the role lets one do, and nothing for others', async () => {
    const { jobs, shown } = mounted()
    const origin = await host(shown)
    const job = await jobs.define('hello', async () => {}).dispatch({}, { delay: '1h' })
    const cancel = (headers: Record<string, string>) =>
      fetch(`${origin}${base}/-/api/jobs/${job.id}/cancel`, { method: 'POST', headers })
    expect((await cancel({ ...own, 'x-role': 'read' })).status).toBe(403)
    expect((await cancel({ ...own, 'x-role': 'operate', 'sec-fetch-site': 'cross-site' })).status).toBe(403)
    expect((await cancel({ 'x-role': 'operate' })).status).toBe(403)
    expect((await cancel({ ...own, 'x-role': 'operate' })).status).toBe(200)
    const preview = await fetch(`${origin}${base}/-/preview`, {
      method: 'POST',
      headers: { ...own, 'x-role': 'operate' },
      body: JSON.stringify({ filter: 'state:cancelled' }),
    })
    expect(await preview.json()).toMatchObject({ count: 1, exact: true })
  })

  test('it streams what is watched', async () => {
    const { jobs, shown } = mounted()
    const origin = await host(shown)
    await jobs.define('hello', async () => {}).dispatch({}, { delay: '1h' })
    const ending = new AbortController()
    const answer = await fetch(`${origin}${base}/-/events?topic=counts`, { headers: { 'x-role': 'read' }, signal: ending.signal })
    let said = ''
    const decoder = new TextDecoder()
    for await (const part of answer.body ?? []) {
      said += decoder.decode(part as Uint8Array)
      if (said.includes('"scheduled":1')) break
    }
    expect(said).toContain('{"topic":"counts"')
    ending.abort()
  })
})

describe('a mounted dashboard', () => {
  test('is not made without a login', () => {
    const jobs = treadle('memory:')
    expect(() => dashboard(jobs, {} as DashboardOptions)).toThrow(/authorize must be a function/)
    expect(() => dashboard(jobs, { authorize: () => null, bsePath: '/a' } as DashboardOptions)).toThrow(/did you mean "basePath"/)
  })

  test('says what is wrong where a parser of the host has read the body', async () => {
    const { shown } = mounted()
    const app = Fastify()
    onTestFinished(() => app.close())
    app.all(`${base}*`, async (request, reply) => {
      reply.hijack()
      await shown.node(request.raw, reply.raw)
    })
    const origin = await app.listen({ port: 0, host: '127.0.0.1' })
    const headers = { ...own, 'x-role': 'operate' }
    const answer = await fetch(`${origin}${base}/-/preview`, { method: 'POST', headers, body: '{"filter":"state:dead"}' })
    expect(await answer.json()).toMatchObject({
      detail: expect.stringContaining('A body parser of the host has read the request'),
    })
  })

  test('answers with its page with and without a slash at the end: a host that takes the slash away would go round in circles', async () => {
    const { shown } = mounted()
    for (const path of [base, `${base}/`]) {
      const answer = await shown.fetch(new Request(`http://localhost${path}`, { headers: { 'x-role': 'read' } }))
      expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining(`data-base="${base}"`)])
    }
  })

  test('shows no payloads where it is told so', async () => {
    const { jobs, shown } = mounted({ payloads: false })
    const job = await jobs.define('hello', async () => {}).dispatch({ name: 'a-secret-name' }, { delay: '1h' })
    const view = await shown.fetch(
      new Request(`http://localhost${base}/-/view?topic=job:${job.id}`, { headers: { 'x-role': 'read' } }),
    )
    expect(await view.text()).not.toContain('a-secret-name')
    const text = await shown.fetch(
      new Request(`http://localhost${base}/-/text?id=${job.id}&part=payload`, { headers: { 'x-role': 'read' } }),
    )
    expect(await text.text()).toBe('')
    const search = await shown.fetch(
      new Request(`http://localhost${base}/-/jobs?q=a-secret-name`, { headers: { 'x-role': 'read' } }),
    )
    expect(await search.json()).toMatchObject({ jobs: [] })
  })

  test('tells its host what is done, and by whom', async () => {
    const told: unknown[] = []
    const { jobs, shown } = mounted({ onAction: (entry) => told.push(entry) })
    await jobs.define('hello', async () => {}).dispatch({}, { delay: '1h' })
    await shown.fetch(
      new Request(`http://localhost${base}/-/api/queues/default/pause`, {
        method: 'POST',
        headers: { ...own, 'x-role': 'operate' },
      }),
    )
    expect(told).toEqual([
      expect.objectContaining({ user: 'ada', role: 'operate', what: 'pause the queue "default"', href: '/queues/default' }),
    ])
  })
})

test.each(['null', '[]', '7', '"text"'])('what must be an object is refused if it is %s', async (body) => {
  const { shown } = mounted()
  for (const name of ['preview', 'explain-schedule', 'bulk', 'cancel-workflow', 'copy', 'schedule']) {
    const headers = { ...own, 'x-role': 'operate' }
    const answer = await shown.fetch(new Request(`http://localhost${base}/-/${name}`, { method: 'POST', headers, body }))
    expect([name, answer.status]).toEqual([name, 400])
  }
})
