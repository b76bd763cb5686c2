import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Page } from 'playwright-core'
import type { Treadle } from '../../dist/index.js'
import { type DashboardOptions, type DashboardViewer, dashboard } from '../../dist/server/dashboard/index.js'

export const silent = { debug() {}, info() {}, warn() {}, error() {} }

/** What a browser sends with each request of the page itself. */
export const ofPage = { 'sec-fetch-site': 'same-origin', 'x-treadle': '1', 'content-type': 'application/json' }

export interface Mounted extends AsyncDisposable {
  readonly origin: string
  readonly port: number
  /** Ends all connections and answers no more, as a server that was killed. */
  stop(): Promise<void>
  start(): Promise<void>
}

/** A dashboard on a server of its own. Viewers are operators, with the name that the header `x-user` says. */
export async function mounted(jobs: Treadle, options: Partial<DashboardOptions> = {}): Promise<Mounted> {
  const shown = dashboard(jobs, { authorize: operatorOf, ...options })
  let server = createServer((request: IncomingMessage, response: ServerResponse) => void shown.node(request, response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const stop = async () => {
    server.close()
    server.closeAllConnections()
  }
  return {
    origin: `http://127.0.0.1:${port}`,
    port,
    stop,
    start: async () => {
      server = createServer((request, response) => void shown.node(request, response))
      server.listen(port, '127.0.0.1')
      await once(server, 'listening')
    },
    [Symbol.asyncDispose]: async () => {
      await stop()
      await shown.close()
    },
  }
}

function operatorOf(request: Request): DashboardViewer {
  return { role: 'operate', user: request.headers.get('x-user') ?? 'ada' }
}

/** Opens a page and waits until it shows its data. */
export async function visit(page: Page, address: string): Promise<void> {
  await page.goto(address)
  await page.locator('main h1').first().waitFor({ state: 'attached' })
  await page.locator('.loading').first().waitFor({ state: 'detached' })
}
