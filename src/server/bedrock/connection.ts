import type { Socket } from 'node:net'
import type { Clock } from '../../core/clock.ts'
import type { Logger } from '../../core/logger.ts'
import { answerWith, queued, refused, timedOut, tooLarge, unauthorized } from './answering.ts'
import type { Forgotten } from './forgotten.ts'
import { type GeneralHeaders, generalHeaders } from './general-headers.ts'
import { LazyAbort } from './lazy-abort.ts'
import { LazyDeadline } from './lazy-deadline.ts'
import type { BedrockLimits } from './limits.ts'
import type { BedrockAnswer } from './peer.ts'
import type { BedrockReply } from './reply.ts'
import { ReplyWriter } from './reply-writer.ts'
import type { BedrockRequest } from './request.ts'
import { RequestParser } from './request-parser.ts'
import { type PeerAddress, peerAddress, RequestPeer } from './request-peer.ts'
import type { TokenGuard } from './token-guard.ts'
import type { UnfinishedBytes } from './unfinished-bytes.ts'

export interface ConnectionContext {
  readonly answer: BedrockAnswer
  readonly guard: TokenGuard | undefined
  readonly needsToken: (request: BedrockRequest) => boolean
  /** A client has asked for something. */
  readonly onRequest: (client: object) => void
  readonly forgotten: Forgotten
  readonly unfinished: UnfinishedBytes
  readonly clock: Clock
  readonly limits: BedrockLimits
  readonly logger: Logger
}

/** A request that is being carried out. */
interface Run {
  readonly peer: RequestPeer
  readonly general: GeneralHeaders
  readonly begunAt: number
  readonly dueAt: number
}

const never = Number.POSITIVE_INFINITY
/** More of what a client sends ahead is left to the system, until its requests are answered. */
const maxAheadBytes = 64 * 1024
/** A client that was told all is given this time to close its side: to cut it off could take the last reply from it. */
const lingerMs = 1_000
/**
 * Who has nothing more to say closes its sending side behind its request and reads on, as `nc -N` does. Whoever closes it later is
 * most often gone altogether, and nobody can know before something is sent.
 */
const lastWordMs = 1_000

/** One client: its requests are carried out one after the other and answered in the order in which they came. */
export class Connection {
  readonly #socket: Socket
  readonly #context: ConnectionContext
  readonly #address: PeerAddress
  readonly #parser: RequestParser
  readonly #writer: ReplyWriter
  readonly #deadline: LazyDeadline
  readonly #closing = new LazyAbort()
  #run: Run | undefined
  #hasShownToken = false
  #isServing = false
  #isStopping = false
  #hasClientEnded = false
  #isFinished = false
  #countedBytes = 0

  constructor(socket: Socket, context: ConnectionContext) {
    const { clock, limits } = context
    this.#socket = socket
    this.#context = context
    this.#address = peerAddress(socket.remoteAddress)
    this.#parser = new RequestParser(limits)
    this.#deadline = new LazyDeadline(clock, () => this.#due())
    this.#writer = new ReplyWriter(socket, clock, limits, () => this.#serve())
    socket.on('data', (bytes: Buffer) => this.#received(bytes))
    socket.on('end', () => this.#ended())
    socket.on('finish', () => this.#deadline.set(clock.now() + lingerMs))
    socket.on('close', () => this.#closed())
  }

  /** What is being carried out is still answered; nothing else is begun. */
  stop(): void {
    this.#isStopping = true
    this.#closing.abort(new Error('The server is stopping'))
    this.#serve()
  }

  #received(bytes: Buffer): void {
    if (this.#isFinished) return
    this.#parser.add(bytes)
    if (this.#run === undefined && !this.#writer.isBlocked) this.#serve()
    else if (this.#parser.waitingBytes > maxAheadBytes) this.#socket.pause()
  }

  #ended(): void {
    this.#hasClientEnded = true
    if (this.#hasGivenUp) this.#closing.abort(new Error('The client has closed its side'))
    if (this.#run !== undefined) this.#writer.watch()
    this.#serve()
  }

  /** That its sending side is closed now does not come with the request which is being carried out. */
  get #hasGivenUp(): boolean {
    return this.#run !== undefined && this.#context.clock.now() - this.#run.begunAt > lastWordMs
  }

  #closed(): void {
    const gone = new Error('The client is gone')
    this.#isFinished = true
    this.#forgetReceived()
    this.#deadline.cancel()
    this.#closing.abort(gone)
    this.#run?.peer.gone.abort(gone)
    this.#run = undefined
  }

  /** Begins what can be begun, and ends the connection where nothing more will come. */
  #serve(): void {
    if (this.#isServing || this.#isOver) return
    this.#isServing = true
    let hasMore = true
    while (hasMore && this.#isFree && !this.#isStopping) hasMore = this.#serveNext()
    this.#isServing = false
    if (this.#isOver) return
    if (this.#isFree && (this.#isStopping || this.#hasClientEnded)) this.#finish()
    else this.#goOn()
  }

  #goOn(): void {
    if (!this.#hasRoomFor(this.#parser.waitingBytes) && this.#isFree) this.#sendLast(tooLarge)
    else {
      if (this.#isFree && this.#socket.isPaused()) this.#socket.resume()
      this.#setDeadline()
    }
  }

  #forgetReceived(): void {
    this.#parser.forget()
    this.#hasRoomFor(0)
  }

  #hasRoomFor(bytes: number): boolean {
    const before = this.#countedBytes
    this.#countedBytes = bytes
    return this.#context.unfinished.change(before, bytes)
  }

  /** Nothing is being carried out, and no reply waits to be read. */
  get #isFree(): boolean {
    return this.#run === undefined && !this.#writer.isBlocked && !this.#isOver
  }

  get #isOver(): boolean {
    return this.#isFinished || this.#socket.destroyed
  }

  #serveNext(): boolean {
    const next = this.#parser.next()
    if (next === undefined) return false
    if (next === 'malformed') this.#socket.destroy()
    else if (next === 'too large') this.#sendLast(tooLarge)
    else this.#begin(next)
    return typeof next !== 'string'
  }

  #begin(request: BedrockRequest): void {
    const { clock, forgotten } = this.#context
    const general = generalHeaders(request.headers)
    if (!this.#isAuthorized(request)) this.#send(unauthorized, general)
    else if (general.timeoutMs !== undefined && general.timeoutMs <= 0) this.#send(timedOut, general)
    else if (general.connection !== 'forget' && general.executeAtMs <= clock.now()) this.#carryOut(request, general)
    else if (forgotten.isFull) this.#sendLast(refused)
    else {
      this.#sendLast(queued)
      forgotten.accept(request, general, this.#address)
    }
  }

  #isAuthorized(request: BedrockRequest): boolean {
    const { guard, needsToken } = this.#context
    if (guard === undefined || !needsToken(request)) return true
    const shown = guard(request.headers)
    if (shown !== undefined) this.#hasShownToken = shown
    return this.#hasShownToken
  }

  #carryOut(request: BedrockRequest, general: GeneralHeaders): void {
    const { answer, clock, logger, onRequest } = this.#context
    onRequest(this)
    const peer = new RequestPeer(this.#address, this.#closing, general.timeoutMs, true)
    const run: Run = { peer, general, begunAt: clock.now(), dueAt: this.#dueAt(general) }
    this.#run = run
    answerWith(answer, request, peer, logger, (reply) => this.#answered(run, reply))
  }

  /** A request that waits looks after its own time; what it does after its wait gets the usual time. */
  #dueAt({ connection, timeoutMs }: GeneralHeaders): number {
    const { clock, limits } = this.#context
    if (connection !== 'wait') return clock.now() + (timeoutMs ?? limits.requestMs)
    return timeoutMs === undefined ? never : clock.now() + timeoutMs + limits.requestMs
  }

  #answered(run: Run, reply: BedrockReply): void {
    if (run !== this.#run) {
      reply.undelivered?.()
      return
    }
    this.#run = undefined
    this.#send(reply, run.general)
    this.#serve()
  }

  #send(reply: BedrockReply, { connection, echoesClose }: GeneralHeaders): void {
    this.#writer.send(echoesClose ? { ...reply, headers: { ...reply.headers, Connection: 'close' } } : reply)
    if (connection === 'close') this.#finish()
  }

  #sendLast(reply: BedrockReply): void {
    this.#writer.send(reply)
    this.#finish()
  }

  #finish(): void {
    if (this.#isFinished) return
    this.#isFinished = true
    this.#forgetReceived()
    this.#deadline.set(this.#context.clock.now() + this.#context.limits.stalledMs)
    this.#socket.resume()
    this.#writer.finish(this.#hasClientEnded)
  }

  #setDeadline(): void {
    const { clock, limits } = this.#context
    if (this.#run !== undefined) this.#deadline.set(this.#run.dueAt)
    else if (this.#writer.isBlocked || this.#parser.isWithinRequest) this.#deadline.set(clock.now() + limits.stalledMs)
    else this.#deadline.set(never)
  }

  #due(): void {
    const run = this.#run
    if (run !== undefined) {
      this.#answered(run, timedOut)
      run.peer.gone.abort(new Error('The time of the request is up'))
    } else if (this.#isFinished || this.#writer.isBlocked) this.#socket.destroy()
    else this.#sendLast(timedOut)
  }
}
