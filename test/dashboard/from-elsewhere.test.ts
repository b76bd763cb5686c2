import { request } from 'node:http'
import { describe, expect, onTestFinished, test } from 'vitest'
import { treadle } from '../../dist/index.js'
import { serve } from '../../dist/server/index.js'
import { accessibilityProblems, hasBrowser, useBrowser } from './browser.ts'

const logger = { debug() {}, info() {}, warn() {}, error() {} }

describe.skipIf(!hasBrowser)('a dashboard without a token', () => {
  const browser = useBrowser()

  const serving = async () => {
    const jobs = treadle('memory:', { logger })
    const server = await serve(jobs, { port: null, httpPort: 0 })
    onTestFinished(async () => {
      await server.stop({ graceMs: 1_000 })
      await jobs.close()
    })
    return { jobs, server, port: server.httpAddress?.port }
  }

  test('is not started where other machines can reach it, and says how it could be', async () => {
    const jobs = treadle('memory:', { logger })
    onTestFinished(() => jobs.close())
    await expect(serve(jobs, { host: '0.0.0.0', port: null, httpPort: 0 })).rejects.toThrow(
      'a server on 0.0.0.0 can be reached by others, so it needs a token: set TREADLE_TOKEN, or use treadle serve --token',
    )
  })

  test('refuses whoever comes under a name that is not of its own machine, with a page that says how to allow it', async () => {
    const { port } = await serving()
    const opened = await browser.open()
    onTestFinished(() => opened.context.close())
    const { page } = opened
    // The browser of another machine names this one by its name there. The page itself comes from here all the same.
    await page.route('**/*', async (route) => {
      const answer = await route.fetch({ headers: { ...route.request().headers(), host: `build-server:${port}` } })
      await route.fulfill({ response: answer })
    })
    const answer = await page.goto(`http://127.0.0.1:${port}/jobs`)
    expect(answer?.status()).toBe(403)
    await page.getByText('To let others in, start it with a token: set TREADLE_TOKEN, or use treadle serve --token').waitFor()
    expect(await page.getByRole('navigation').count()).toBe(0)
    expect(await accessibilityProblems(page)).toEqual([])
  })

  test('gives a program that comes so no page and no data', async () => {
    const { port } = await serving()
    for (const path of ['/', '/jobs', '/-/me', '/-/jobs?q=', '/api/v1/jobs'])
      expect(await statusOf(port ?? 0, path), path).toBe(403)
  })
})

function statusOf(port: number, path: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const asking = request({ host: '127.0.0.1', port, path, headers: { host: 'build-server' } }, (response) => {
      response.resume()
      resolve(response.statusCode)
    })
    asking.on('error', reject).end()
  })
}
