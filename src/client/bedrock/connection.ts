import { connect, type Socket } from 'node:net'
import { type ConnectionOptions, connect as connectTls } from 'node:tls'
import { messageOf, TreadleError } from '../../core/errors.ts'
import type { Clock, Timer } from '../../core/time/clock.ts'
import { type BedrockResponse, ResponseReader } from './wire.ts'

export interface BedrockAddress {
  readonly host: string
  readonly port: number
  readonly tls: ConnectionOptions | undefined
}

interface Call {
  readonly text: string
  readonly timeoutMs: number
  /** Whether it only waits for a job: it changes nothing until it is answered, and may be withdrawn. */
  readonly isWait: boolean
  readonly resolve: (response: BedrockResponse) => void
  readonly reject: (reason: unknown) => void
  readonly forget: () => void
}

/**
 * One connection to a server, opened on demand and reopened after it was lost. Requests are sent in order, one after
 * the other. A request whose response never arrived is not repeated, because the server may have carried it out.
 */
export class BedrockConnection {
  readonly #address: BedrockAddress
  readonly #clock: Clock
  readonly #waiting: Call[] = []
  #socket: Socket | undefined
  #current: Call | undefined
  #timer: Timer | undefined
  #isClosed = false

  constructor(address: BedrockAddress, clock: Clock) {
    this.#address = address
    this.#clock = clock
  }

  /** `waitMs` is how long the server may wait for a job, in addition to the time the response takes. */
  ask(text: string, answerMs: number, waitMs: number, signal?: AbortSignal): Promise<BedrockResponse> {
    if (this.#isClosed) return Promise.reject(new TreadleError('BACKEND_CLOSED', 'The client was closed. Create a new one.'))
    if (signal?.aborted) return Promise.reject(signal.reason)
    return new Promise((resolve, reject) => {
      const abort = () => this.#abandon(call, signal?.reason)
      const forget = () => signal?.removeEventListener('abort', abort)
      const call: Call = { text, timeoutMs: answerMs + waitMs, isWait: waitMs > 0, resolve, reject, forget }
      signal?.addEventListener('abort', abort)
      this.#waiting.push(call)
      this.#next()
    })
  }

  /** Ends the connection. Unanswered requests fail. */
  close(): void {
    this.#isClosed = true
    const reason = new TreadleError('BACKEND_CLOSED', 'The client was closed before the server answered.')
    const calls = [...(this.#current === undefined ? [] : [this.#current]), ...this.#waiting]
    this.#waiting.length = 0
    for (const call of calls) this.#abandon(call, reason)
    this.#socket?.end()
  }

  #next(): void {
    if (this.#current !== undefined) return
    const call = this.#waiting.shift()
    if (call === undefined) return
    this.#current = call
    const { host, port } = this.#address
    const late = () => this.#abandon(call, unreachable(host, port, `no answer in ${call.timeoutMs} ms`))
    this.#timer = this.#clock.timer(call.timeoutMs, late)
    this.#socket ??= this.#open()
    this.#socket.ref()
    this.#socket.write(call.text)
  }

  /**
   * Once a sent request is abandoned, its response could be mistaken for that of the next one, so the connection is
   * dropped too.
   */
  #abandon(call: Call, reason: unknown): void {
    const at = this.#waiting.indexOf(call)
    if (at >= 0) this.#waiting.splice(at, 1)
    if (call === this.#current && call.isWait) this.#cutOff()
    else if (call === this.#current) this.#drop()
    this.#settle(call, () => call.reject(reason))
  }

  #settle(call: Call, tell: () => void): void {
    call.forget()
    if (call === this.#current) {
      this.#timer?.cancel()
      this.#current = undefined
    }
    tell()
    this.#next()
  }

  #drop(): void {
    const socket = this.#socket
    this.#socket = undefined
    socket?.destroy()
  }

  /** Resets the connection, because a server cannot otherwise tell a silent client from one that is gone. */
  #cutOff(): void {
    if (this.#address.tls === undefined && this.#socket?.connecting === false) this.#socket.resetAndDestroy()
    this.#drop()
  }

  #open(): Socket {
    const { host, port, tls } = this.#address
    const socket = tls === undefined ? connect({ host, port }) : connectTls({ host, port, servername: host, ...tls })
    const reader = new ResponseReader()
    const lost = (why: string) => {
      if (socket !== this.#socket) return
      this.#drop()
      const call = this.#current
      if (call !== undefined) this.#settle(call, () => call.reject(unreachable(host, port, why)))
    }
    socket.setNoDelay(true)
    socket.on('error', (error) => lost(messageOf(error)))
    socket.on('close', () => lost('it closed the connection'))
    socket.on('data', (bytes: Buffer) => {
      try {
        const response = reader.add(bytes)
        if (response !== undefined) this.#answered(socket, response)
      } catch (thrown) {
        lost(messageOf(thrown))
      }
    })
    return socket
  }

  #answered(socket: Socket, response: BedrockResponse): void {
    const call = this.#current
    if (call === undefined || socket !== this.#socket) return
    if (response.headers.get('connection') === 'close') this.#drop()
    // An idle connection does not keep the program alive.
    else if (this.#waiting.length === 0) socket.unref()
    this.#settle(call, () => call.resolve(response))
  }
}

function unreachable(host: string, port: number, why: string): TreadleError {
  return new TreadleError('SERVER_UNREACHABLE', `The job server at ${host}:${port} cannot be reached: ${why}`)
}
