import { connect, type Socket } from 'node:net'
import { messageOf, TreadleError } from '../../../core/errors.ts'
import { type Clock, systemClock, type Timer } from '../../../core/time/clock.ts'
import { type Reply, ReplyReader } from './reply-reader.ts'

export interface Address {
  readonly host: string
  readonly port: number
}

/** How long a server may take to answer anything at all before its connection is dropped. */
export interface Patience {
  readonly timeoutMs: number
}

interface Pending {
  readonly resolve: (reply: Reply) => void
  readonly reject: (reason: unknown) => void
}

/**
 * One connection, from opening to closing. Commands are answered in the order they were sent. When it closes, all unanswered
 * commands fail, and may or may not have been applied. Reserved jobs belong to the connection: when it closes, the server makes
 * them available to others at once.
 */
export class Session {
  readonly #socket: Socket
  readonly #address: Address
  readonly #timeoutMs: number
  readonly #clock: Clock
  readonly #reader = new ReplyReader()
  readonly #watched = new Set(['default'])
  readonly #closing: (() => void)[] = []
  #pending: Pending[] = []
  #answered = 0
  #answers = 0
  #outgoing: (string | Uint8Array)[] = []
  #timer: Timer | undefined
  #longestBlockMs = 0
  #closed: TreadleError | undefined
  #used = 'default'

  /** Throws `DATABASE_UNREACHABLE` if the connection is not accepted in time. */
  static open(address: Address, { timeoutMs }: Patience, clock: Clock = systemClock): Promise<Session> {
    return new Promise((resolve, reject) => {
      const socket = connect({ host: address.host, port: address.port, noDelay: true })
      const timer = clock.timer(timeoutMs, () => socket.destroy(new Error(`no connection in ${timeoutMs} ms`)))
      const fail = (error: Error) => {
        timer.cancel()
        reject(unreachable(address, messageOf(error)))
      }
      socket.once('error', fail)
      socket.once('connect', () => {
        timer.cancel()
        socket.removeListener('error', fail)
        resolve(new Session(socket, address, timeoutMs, clock))
      })
    })
  }

  private constructor(socket: Socket, address: Address, timeoutMs: number, clock: Clock) {
    this.#socket = socket
    this.#address = address
    this.#timeoutMs = timeoutMs
    this.#clock = clock
    // An idle connection does not keep the process alive.
    socket.unref()
    socket.on('error', (error) => this.#close(messageOf(error)))
    socket.on('close', () => this.#close('the connection was closed'))
    socket.on('data', (bytes: Buffer) => this.#receive(bytes))
  }

  get isOpen(): boolean {
    return this.#closed === undefined
  }

  /** The tube that `put` writes to, and the tubes that `reserve` reads from: the server keeps them per connection. */
  get used(): string {
    return this.#used
  }

  get watched(): ReadonlySet<string> {
    return this.#watched
  }

  onClosed(act: () => void): void {
    if (this.isOpen) this.#closing.push(act)
    else act()
  }

  /** `blockMs` is how long the server may deliberately block on this command. Commands sent after it wait as well. */
  ask(command: string, body: string | Uint8Array | null = null, blockMs = 0): Promise<Reply> {
    if (this.#closed !== undefined) return Promise.reject(this.#closed)
    return new Promise((resolve, reject) => {
      if (this.#outgoing.length === 0) queueMicrotask(() => this.#flush())
      if (body === null) this.#outgoing.push(`${command}\r\n`)
      else this.#outgoing.push(`${command} ${Buffer.byteLength(body)}\r\n`, body, '\r\n')
      if (this.#pending.length === this.#answered && blockMs === 0) this.#socket.ref()
      this.#pending.push({ resolve, reject })
      this.#longestBlockMs = Math.max(this.#longestBlockMs, blockMs)
      this.#watchOver()
    })
  }

  async use(tube: string): Promise<void> {
    if (this.#used === tube) return
    // Set at once: later commands are queued behind it.
    this.#used = tube
    await this.ask(`use ${tube}`)
  }

  /** From now on, reserves from these tubes only. Later commands are queued behind it. */
  async watch(tubes: ReadonlySet<string>): Promise<void> {
    const asked: Promise<Reply>[] = []
    for (const tube of tubes) {
      if (this.#watched.has(tube)) continue
      this.#watched.add(tube)
      asked.push(this.ask(`watch ${tube}`))
    }
    // A connection must watch at least one tube, so old ones are ignored only after new ones are watched.
    for (const tube of [...this.#watched]) {
      if (tubes.has(tube)) continue
      this.#watched.delete(tube)
      asked.push(this.ask(`ignore ${tube}`))
    }
    await Promise.all(asked)
  }

  /** Closes immediately; unanswered commands fail. */
  destroy(): void {
    this.#close('it was given up')
  }

  #flush(): void {
    const chunks = this.#outgoing
    this.#outgoing = []
    if (this.#closed !== undefined || chunks.length === 0) return
    const isText = chunks.every((chunk) => typeof chunk === 'string')
    this.#socket.write(isText ? chunks.join('') : Buffer.concat(chunks.map((chunk) => Buffer.from(chunk as string))))
  }

  #receive(bytes: Buffer): void {
    try {
      for (const reply of this.#reader.read(bytes)) this.#answer(reply)
    } catch (thrown) {
      this.#close(messageOf(thrown))
    }
  }

  #answer(reply: Reply): void {
    const pending = this.#pending[this.#answered]
    if (pending === undefined) {
      this.#close(`it answered "${reply.word}", and nothing was asked`)
      return
    }
    this.#answered++
    this.#answers++
    if (this.#answered === this.#pending.length) {
      this.#pending = []
      this.#answered = 0
      this.#longestBlockMs = 0
      this.#socket.unref()
    }
    pending.resolve(reply)
  }

  /** One timer for all commands: as long as answers arrive, the server is alive. */
  #watchOver(): void {
    if (this.#timer !== undefined) return
    const before = this.#answers
    const waitMs = this.#timeoutMs + this.#longestBlockMs
    const look = () => {
      this.#timer = undefined
      if (this.#closed !== undefined || this.#pending.length === 0) return
      if (this.#answers === before) this.#close(`no answer in ${waitMs} ms`)
      else this.#watchOver()
    }
    this.#timer = this.#clock.timer(waitMs, look, { unref: true })
  }

  #close(why: string): void {
    if (this.#closed !== undefined) return
    const reason = unreachable(this.#address, why)
    this.#closed = reason
    this.#timer?.cancel()
    this.#socket.destroy()
    const pending = this.#pending.slice(this.#answered)
    this.#pending = []
    this.#outgoing = []
    for (const { reject } of pending) reject(reason)
    for (const act of this.#closing) act()
  }
}

function unreachable({ host, port }: Address, why: string): TreadleError {
  return new TreadleError('DATABASE_UNREACHABLE', `Beanstalkd at ${host}:${port} cannot be reached: ${why}`)
}
