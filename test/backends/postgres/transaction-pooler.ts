import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** A pooler as people put before a server: each transaction of a client gets another connection of the server, in turn. */
export interface TransactionPooler extends AsyncDisposable {
  readonly url: string
}

export async function startPooler(serverUrl: string, connections: number): Promise<TransactionPooler> {
  const { hostname, port, username, pathname } = new URL(serverUrl)
  const login = { user: decodeURIComponent(username), database: pathname.slice(1) }
  const idle: ServerLink[] = []
  const waiting: ((link: ServerLink) => void)[] = []
  const links = await Promise.all(Array.from({ length: connections }, () => ServerLink.open(hostname, Number(port), login)))
  const give = (link: ServerLink) => {
    const next = waiting.shift()
    if (next === undefined) idle.push(link)
    else next(link)
  }
  for (const link of links) give(link)
  const take = () =>
    new Promise<ServerLink>((resolve) => {
      const link = idle.shift()
      if (link === undefined) waiting.push(resolve)
      else resolve(link)
    })
  const clients = new Set<Socket>()
  const server = createServer((socket) => {
    clients.add(socket)
    socket.setNoDelay(true)
    socket.on('error', () => socket.destroy())
    socket.on('close', () => clients.delete(socket))
    serve(socket, take, give)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port: own } = server.address() as AddressInfo
  return {
    url: `postgres://${username}@127.0.0.1:${own}${pathname}`,
    async [Symbol.asyncDispose]() {
      for (const client of clients) client.destroy()
      for (const link of links) link.socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

/** Between two transactions a client has no connection of the server at all. */
function serve(socket: Socket, take: () => Promise<ServerLink>, give: (link: ServerLink) => void): void {
  let link: Promise<ServerLink> | undefined
  let isStarted = false
  const messages = new Messages((type, bytes) => {
    if (!isStarted) {
      isStarted = true
      messages.hasTypes = true
      socket.write(Buffer.concat([message('R', int(0)), message('K', int(4_242), int(1)), message('Z', Buffer.from('I'))]))
    } else if (type === 'X') {
      socket.end()
    } else {
      link ??= take().then((taken) =>
        taken.serve((answer, isIdle) => {
          socket.write(answer)
          if (!isIdle) return
          link = undefined
          give(taken)
        }),
      )
      void link.then((taken) => taken.socket.write(bytes))
    }
  })
  messages.hasTypes = false
  // What a client leaves behind in the midst of a transaction is not for the next one.
  socket.on('close', () => void link?.then((taken) => taken.socket.destroy()))
  socket.on('data', (bytes) => messages.read(bytes))
}

type OnAnswer = (bytes: Buffer, isIdle: boolean) => void

/** A connection of the server, lent to one client at a time. What it says while nobody has it is lost. */
class ServerLink {
  readonly socket: Socket
  #onAnswer: OnAnswer = () => {}

  static async open(host: string, port: number, login: Readonly<Record<string, string>>): Promise<ServerLink> {
    const link = new ServerLink(connect(port, host))
    const words = Object.entries(login).flat()
    const body = Buffer.concat([int(196_608), Buffer.from(`${words.join('\0')}\0\0`)])
    const ready = new Promise<void>((resolve) =>
      link.serve((_, isIdle) => {
        if (isIdle) resolve()
      }),
    )
    link.socket.write(Buffer.concat([int(body.length + 4), body]))
    await ready
    return link
  }

  private constructor(socket: Socket) {
    this.socket = socket.setNoDelay(true)
    const messages = new Messages((type, bytes) => this.#onAnswer(bytes, type === 'Z' && bytes.at(-1) === 'I'.charCodeAt(0)))
    socket.on('data', (bytes) => messages.read(bytes))
    socket.on('error', () => socket.destroy())
  }

  serve(onAnswer: OnAnswer): this {
    this.#onAnswer = (bytes, isIdle) => {
      if (isIdle) this.#onAnswer = () => {}
      onAnswer(bytes, isIdle)
    }
    return this
  }
}

/** Cuts what arrives into messages of the protocol: a letter, the length, the rest. The first one of a client has no letter. */
class Messages {
  hasTypes = true
  readonly #onMessage: (type: string, bytes: Buffer) => void
  #rest = Buffer.alloc(0)

  constructor(onMessage: (type: string, bytes: Buffer) => void) {
    this.#onMessage = onMessage
  }

  read(bytes: Buffer): void {
    this.#rest = Buffer.concat([this.#rest, bytes])
    for (;;) {
      const head = this.hasTypes ? 1 : 0
      if (this.#rest.length < head + 4) return
      const size = head + this.#rest.readInt32BE(head)
      if (this.#rest.length < size) return
      const [found, rest] = [this.#rest.subarray(0, size), this.#rest.subarray(size)]
      this.#rest = rest
      this.#onMessage(head === 1 ? String.fromCharCode(found[0] as number) : '', found)
    }
  }
}

function int(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeInt32BE(value)
  return bytes
}

function message(type: string, ...parts: readonly Buffer[]): Buffer {
  const body = Buffer.concat(parts)
  return Buffer.concat([Buffer.from(type), int(body.length + 4), body])
}
