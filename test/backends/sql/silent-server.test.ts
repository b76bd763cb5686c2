import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { treadle } from '../../../src/app/treadle.ts'
import { loggerInto, until } from '../../world.ts'
import { SqlGround } from '../sql-ground.ts'

/** Takes connections and says nothing, until it is told to pass them on to a server. */
class SilentServer {
  readonly #server = createServer((socket) => this.#take(socket))
  readonly #sockets = new Set<Socket>()
  #target: URL | undefined

  async listen(like: string): Promise<string> {
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
    const url = new URL(like)
    url.port = String((this.#server.address() as AddressInfo).port)
    url.searchParams.set('queryTimeout', '300ms')
    return url.href
  }

  answerLike(url: string): void {
    this.#target = new URL(url)
  }

  close(): void {
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

describe.each(['postgres', 'mariadb'] as const)('a server of %s that takes connections and never answers', (engine) => {
  const ground = new SqlGround(engine)
  let server: SilentServer
  beforeAll(() => ground.start())
  afterEach(() => server.close())
  afterAll(() => ground.stop())

  it('can not be reached, and is not called busy', async () => {
    server = new SilentServer()
    await using jobs = treadle(await server.listen(ground.url), { unsigned: true })
    await expect(jobs.open()).rejects.toMatchObject({ code: 'DATABASE_UNREACHABLE' })
  })

  it('is waited for by who wants to work, until it answers', async () => {
    server = new SilentServer()
    const log: string[] = []
    await using jobs = treadle(await server.listen(ground.url), { unsigned: true, logger: loggerInto(log) })
    const opening = jobs.open({ wait: new AbortController().signal })
    await until(() => log.some((line) => line.includes('waiting for it')))
    server.answerLike(ground.url)
    expect((await opening).kind).toBe(engine === 'postgres' ? 'postgres' : 'mysql')
  })
})
