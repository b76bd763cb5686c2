import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { treadle } from '../../../src/app/treadle.ts'
import { loggerInto, until } from '../../world.ts'
import { SqlGround } from '../sql-ground.ts'
import { TcpProxy } from './tcp-proxy.ts'

/** Takes connections and says nothing, until it is told to pass them on to a server. */
class SilentServer implements AsyncDisposable {
  readonly #server = createServer((socket) => this.#take(socket))
  readonly #sockets = new Set<Socket>()
  #target: URL | undefined

  async listen(like: string): Promise<string> {
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
    const url = new URL(like)
    url.port = String((this.#server.address() as AddressInfo).port)
    url.searchParams.set('queryTimeout', '1s')
    return url.href
  }

  answerLike(url: string): void {
    this.#target = new URL(url)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    this.#server.close()
  }

  #take(socket: Socket): void {
    const other = this.#target && connect(Number(this.#target.port), this.#target.hostname)
    for (const each of [socket, ...(other === undefined ? [] : [other])]) {
      this.#sockets.add(each)
      each.on('error', () => each.destroy())
    }
    if (other !== undefined) socket.pipe(other).pipe(socket)
  }
}

// These wait for the ten seconds in which calls are repeated, so they wait side by side.
describe.concurrent.each(['postgres', 'mariadb'] as const)(
  'a server of %s that takes connections and never answers',
  (engine) => {
    const ground = new SqlGround(engine)
    beforeAll(() => ground.start())
    afterAll(() => ground.stop())

    it('cannot be reached, and is not called busy', async ({ expect }) => {
      await using server = new SilentServer()
      await using jobs = treadle(await server.listen(ground.url), { unsigned: true })
      await expect(jobs.open()).rejects.toMatchObject({ code: 'DATABASE_UNREACHABLE' })
    })

    it('is waited for by who wants to work, until it answers', async ({ expect }) => {
      await using server = new SilentServer()
      const log: string[] = []
      await using jobs = treadle(await server.listen(ground.url), { unsigned: true, logger: loggerInto(log) })
      const opening = jobs.open({ wait: new AbortController().signal })
      await until(() => log.some((line) => line.includes('waiting for it')))
      server.answerLike(ground.url)
      expect((await opening).kind).toBe(engine === 'postgres' ? 'postgres' : 'mysql')
    })
  },
)

describe.concurrent.each(['postgres', 'mariadb'] as const)(
  'a server of %s that falls silent while a program uses it',
  (engine) => {
    const ground = new SqlGround(engine)
    beforeAll(() => ground.start())
    afterAll(() => ground.stop())

    function open(proxy: TcpProxy, log: string[] = []) {
      const url = new URL(proxy.url)
      url.searchParams.set('queryTimeout', '2s')
      url.searchParams.set('connections', '2')
      return treadle(url.href, { unsigned: true, logger: loggerInto(log) })
    }

    it('cannot be reached, also for those who wait for a connection that is stuck, and is of use again when it answers', async ({
      expect,
    }) => {
      await using proxy = await TcpProxy.before(ground.url)
      await using jobs = open(proxy)
      const store = await jobs.store()
      await store.counts()
      proxy.fallSilent()
      const outcomes = await Promise.allSettled(Array.from({ length: 8 }, () => store.counts()))
      const codes = outcomes.map((outcome) => (outcome.status === 'rejected' ? outcome.reason.code : 'answered'))
      expect(new Set(codes)).toEqual(new Set(['DATABASE_UNREACHABLE']))
      proxy.answerAgain()
      await until(() => succeeds(store.counts()))
    })

    it('fails a dispatch within its time', async ({ expect }) => {
      await using proxy = await TcpProxy.before(ground.url)
      await using jobs = open(proxy)
      const job = jobs.define('note', async () => {})
      await job.dispatch()
      proxy.fallSilent()
      await expect(Promise.all([job.dispatch(), job.dispatch()])).rejects.toMatchObject({ code: 'DATABASE_UNREACHABLE' })
      proxy.answerAgain()
    })

    it('is waited for by a worker, which says so and goes on when it answers', async ({ expect }) => {
      await using proxy = await TcpProxy.before(ground.url)
      const log: string[] = []
      await using jobs = open(proxy, log)
      const ran: number[] = []
      const job = jobs.define('note', async (n: number) => void ran.push(n))
      const stop = new AbortController()
      const working = jobs.work({ signal: stop.signal, poll: '50ms', signals: false })
      await job.dispatch(1)
      await until(() => ran.includes(1))
      proxy.fallSilent()
      await until(() => log.some((line) => line.includes('cannot be reached')))
      // Not later: who has waited until it answers again may find the connections of before still in use.
      expect(log.filter((line) => line.includes('No connection was free'))).toEqual([])
      proxy.answerAgain()
      await until(() => succeeds(job.dispatch(2)))
      await until(() => ran.includes(2))
      stop.abort()
      await working
    })
  },
)

function succeeds(call: Promise<unknown>): Promise<boolean> {
  return call.then(
    () => true,
    () => false,
  )
}
