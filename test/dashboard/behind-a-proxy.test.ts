import { once } from 'node:events'
import { createServer, type RequestListener, request as send } from 'node:http'
import type { AddressInfo } from 'node:net'
import express from 'express'
import { describe, expect, onTestFinished, test } from 'vitest'
import { treadle } from '../../dist/index.js'
import { dashboard } from '../../dist/server/dashboard/index.js'
import { hasBrowser, useBrowser } from './browser.ts'
import { silent, visit } from './mounted.ts'

const basePath = '/admin/jobs'
const publicPath = '/intern/admin/jobs'

describe.skipIf(!hasBrowser)(
  'in an application with guards of its own, behind a proxy that takes a part of the path away',
  () => {
    const browser = useBrowser()

    test('the dashboard is live, acts, and keeps to its own policy', async () => {
      const jobs = treadle('memory:', { logger: silent })
      await jobs.define('send', async () => {}).dispatch()
      const shown = dashboard(jobs, { basePath, publicPath, authorize: () => ({ role: 'operate', user: 'ada' }) })
      const app = express()
      app.use((_request, response, next) => {
        // What a middleware for safe headers sets on all answers.
        response.setHeader(
          'content-security-policy',
          "default-src 'self'; script-src 'none'; style-src 'none'; connect-src 'none'",
        )
        response.setHeader('cross-origin-opener-policy', 'same-origin')
        response.setHeader('x-frame-options', 'SAMEORIGIN')
        next()
      })
      app.use(express.json())
      app.use(basePath, shown.node)
      // A guard against forged requests wants a token that only the application's own forms have.
      app.use((request, response, next) => {
        if (request.method === 'GET') next()
        else response.status(403).send('no token')
      })
      const origin = await listening(proxyTo(await listening(app)))
      const { page, context, complaints } = await browser.open()
      onTestFinished(async () => {
        await context.close()
        await shown.close()
        await jobs.close()
      })
      await visit(page, `${origin}${publicPath}/queues/default`)
      await page.locator('.live-live').waitFor()
      await page.getByRole('button', { name: 'Pause default' }).click()
      await page.getByText(/^paused here by ada/).waitFor()
      await page.getByRole('navigation').getByRole('link', { name: 'Overview' }).click()
      await page.waitForURL(`${origin}${publicPath}/`)
      await page.reload()
      await page
        .getByText(/^Ready/)
        .first()
        .waitFor()
      expect((await fetch(`${origin}/intern/form`, { method: 'POST' })).status).toBe(403)
      expect(complaints).toEqual([])
    })
  },
)

async function listening(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** Passes on what is below /intern, without that. */
function proxyTo(origin: string): RequestListener {
  return (request, response) => {
    const { method, headers } = request
    const passed = send(origin + (request.url ?? '').replace(/^\/intern/, ''), { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(response)
    })
    passed.on('error', () => response.destroy())
    response.on('close', () => passed.destroy())
    request.pipe(passed)
  }
}
