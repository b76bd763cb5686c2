import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** What goes wrong with the next statement that holds a text. */
type Fault =
  /** The server answers, and the answer is lost. */
  | 'answer'
  /** It never reaches the server. */
  | 'request'
  /** Neither arrives, and nothing tells: the connection only seems to stand. */
  | 'silence'

/** A way to a server that can be cut at a chosen moment. */
export class TcpProxy implements AsyncDisposable {
  readonly url: string
  readonly #server: ReturnType<typeof createServer>
  readonly #sockets = new Set<Socket>()
  #fault: { readonly kind: Fault; readonly text: string | RegExp; readonly onMet: () => void } | undefined
  #target: URL
  #isOpen = true
  #isSilent = false

  static async before(serverUrl: string): Promise<TcpProxy> {
    const server = createServer()
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return new TcpProxy(server, new URL(serverUrl))
  }

  private constructor(server: ReturnType<typeof createServer>, target: URL) {
    this.#server = server
    this.#target = target
    server.on('connection', (client) => this.#join(client, this.#target))
    const url = new URL(target)
    url.port = String((server.address() as AddressInfo).port)
    this.url = url.href
  }

  /** Resolves when it has happened. */
  lose(kind: Fault, text: string | RegExp): Promise<void> {
    return new Promise((resolve) => {
      this.#fault = { kind, text, onMet: resolve }
    })
  }

  /** Leads connections that are opened from now on to another server, as a name does after a failover. */
  leadTo(serverUrl: string): void {
    this.#target = new URL(serverUrl)
  }

  /** Breaks all connections. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy()
  }

  /** As if there were no server, until it is let in again. */
  close(): void {
    this.#isOpen = false
    this.cut()
  }

  open(): void {
    this.#isOpen = true
  }

  /** From now on nothing comes through, on connections old and new, and nothing tells. */
  fallSilent(): void {
    this.#isSilent = true
    for (const socket of this.#sockets) socket.removeAllListeners('data').resume()
  }

  /** New connections are as they should be; those from before stay silent. */
  answerAgain(): void {
    this.#isSilent = false
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.cut()
    this.#server.close()
    await once(this.#server, 'close')
  }

  #join(client: Socket, target: URL): void {
    if (!this.#isOpen) return void client.destroy()
    if (this.#isSilent) return void this.#keepWaiting(client)
    const server = connect(Number(target.port), target.hostname)
    let isDoomed = false
    for (const [socket, other] of [
      [client, server],
      [server, client],
    ] as const) {
      socket.setNoDelay(true)
      this.#sockets.add(socket)
      socket.on('error', () => socket.destroy())
      socket.on('close', () => {
        this.#sockets.delete(socket)
        other.destroy()
      })
    }
    client.on('data', (bytes) => {
      const fault = this.#meets(bytes)
      if (fault === 'request') client.destroy()
      if (fault === 'silence') {
        client.removeAllListeners('data')
        client.resume()
      }
      if (fault === 'answer') isDoomed = true
      if (fault === undefined || fault === 'answer') server.write(bytes)
    })
    server.on('data', (bytes) => {
      if (isDoomed) client.destroy()
      else client.write(bytes)
    })
  }

  #keepWaiting(client: Socket): void {
    this.#sockets.add(client)
    client.on('error', () => client.destroy())
    client.on('close', () => this.#sockets.delete(client))
    client.resume()
  }

  #meets(bytes: Buffer): Fault | undefined {
    const fault = this.#fault
    if (fault === undefined || !isIn(bytes, fault.text)) return undefined
    this.#fault = undefined
    fault.onMet()
    return fault.kind
  }
}

function isIn(bytes: Buffer, text: string | RegExp): boolean {
  return typeof text === 'string' ? bytes.includes(text) : text.test(bytes.toString('latin1'))
}
