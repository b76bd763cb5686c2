import type { Socket } from 'node:net'
import { everything, type Grant } from '../../access/grant.ts'
import {
  answerWith,
  fromBrowser,
  full,
  queued,
  refused,
  timedOut,
  tooLarge,
  tooManyFailures,
  unauthorized,
} from '../answering.ts'
import { isFromBrowser, isPlainHttp } from '../wire/browser-request.ts'
import { type GeneralHeaders, generalHeaders } from '../wire/general-headers.ts'
import type { BedrockReply } from '../wire/reply.ts'
import type { BedrockRequest } from '../wire/request.ts'
import { RequestParser } from '../wire/request-parser.ts'
import { ClientAccess, nobody } from './client-access.ts'
import type { ConnectionContext } from './connection-context.ts'
import { answeredBefore, arrivesBefore, lastWordMs, lingerMs, never } from './connection-times.ts'
import { LazyAbort } from './lazy-abort.ts'
import { LazyDeadline } from './lazy-deadline.ts'
import { ReplyWriter } from './reply-writer.ts'
import { type PeerAddress, peerAddress, RequestPeer } from './request-peer.ts'

/** A request that is being executed. */
interface Run {
  readonly peer: RequestPeer
  readonly general: GeneralHeaders
  readonly begunAt: number
  readonly dueAt: number
  /** Size of its request. */
  readonly bytes: number
}

/** Once a client has sent this much ahead, stop reading from its socket until its requests are answered. */
const maxAheadBytes = 64 * 1024
/** One client. Its requests are executed one after the other and answered in order of arrival. */
export class Connection {
  readonly #socket: Socket
  readonly #context: ConnectionContext
  readonly #address: PeerAddress
  readonly #parser: RequestParser
  readonly #writer: ReplyWriter
  readonly #deadline: LazyDeadline
  readonly #closing = new LazyAbort()
  #run: Run | undefined
  readonly #client: ClientAccess
  #refusals = 0
  /** When the incomplete request began to arrive. */
  #arrivingSince: number | undefined
  /** When the last request was answered, or the connection was opened. */
  #idleSince: number
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
    this.#client = new ClientAccess(context.access, this.#address.remoteAddress, () => this.#admitted())
    this.#idleSince = clock.now()
    const { strangerBytes } = limits
    this.#parser = new RequestParser(
      this.#client.grant === null ? { ...limits, headerBytes: strangerBytes, bodyBytes: strangerBytes } : limits,
    )
    this.#deadline = new LazyDeadline(clock, () => this.#due())
    this.#writer = new ReplyWriter(socket, clock, limits, context.unread, () => this.#serve())
    socket.on('data', (bytes: Buffer) => this.#received(bytes))
    socket.on('end', () => this.#ended())
    socket.on('finish', () => this.#deadline.set(clock.now() + lingerMs))
    socket.on('close', () => this.#closed())
    context.strangers?.add(socket)
    this.#setDeadline()
  }

  /** The request that is being executed is still answered; no other is started. */
  stop(): void {
    this.#isStopping = true
    this.#closing.abort(new Error('The server is stopping'))
    this.#serve()
  }

  #received(bytes: Buffer): void {
    if (this.#isFinished) return
    this.#parser.add(bytes)
    if (this.#run === undefined && !this.#writer.isBlocked) this.#serve()
    else {
      const hasRoom = this.#hasRoom()
      if (this.#context.unfinished.isOverfull) this.#socket.destroy()
      else if (!hasRoom || this.#parser.waitingBytes > maxAheadBytes) this.#socket.pause()
    }
  }

  #ended(): void {
    this.#hasClientEnded = true
    if (this.#hasGivenUp) this.#closing.abort(new Error('The client has closed its side'))
    if (this.#run !== undefined) this.#writer.watch()
    this.#serve()
  }

  /** Whether the sending side was closed too late to have been closed along with the current request. */
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
    this.#hasRoom()
  }

  /** Starts the next requests, and ends the connection if no more will come. */
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
    if (!this.#hasRoom() && this.#isFree) this.#sendLast(tooLarge)
    else {
      if (this.#isFree && this.#socket.isPaused()) this.#socket.resume()
      this.#setDeadline()
    }
  }

  #forgetReceived(): void {
    this.#parser.forget()
    this.#hasRoom()
  }

  /** Whether there is memory left for what has arrived and what is being executed. */
  #hasRoom(): boolean {
    const before = this.#countedBytes
    this.#countedBytes = this.#parser.heldBytes + (this.#run?.bytes ?? 0)
    return this.#context.unfinished.change(before, this.#countedBytes)
  }

  /** Whether no request is being executed and no reply waits to be read. */
  get #isFree(): boolean {
    return this.#run === undefined && !this.#writer.isBlocked && !this.#isOver
  }

  get #isOver(): boolean {
    return this.#isFinished || this.#socket.destroyed
  }

  #serveNext(): boolean {
    let next = this.#parser.next()
    if (next === 'too large' && this.#hasBegunWithToken()) next = this.#parser.next()
    if (next === undefined) {
      if (this.#parser.isWithinRequest) this.#arrivingSince ??= this.#context.clock.now()
      return false
    }
    this.#arrivingSince = undefined
    if (next === 'malformed') this.#socket.destroy()
    else if (next === 'too large') this.#sendLast(tooLarge)
    else this.#begin(next)
    return typeof next !== 'string'
  }

  #begin(request: BedrockRequest): void {
    const { access, needsToken } = this.#context
    const given = generalHeaders(request.headers)
    const general = isPlainHttp(request) ? { ...given, connection: 'close' } : given
    if (isFromBrowser(request, access.isOpen)) this.#sendLast(fromBrowser)
    else if (access.isOpen) this.#proceed(request, general, everything)
    else if (!needsToken(request)) this.#proceed(request, general, this.#client.grant ?? nobody)
    else this.#admit(request, general)
  }

  #admit(request: BedrockRequest, general: GeneralHeaders): void {
    const admission = this.#client.admit(request.headers)
    if (admission === 'too many failures') this.#sendLast(tooManyFailures)
    else if ('later' in admission) this.#lookLater(admission.later, request, general)
    else this.#proceed(request, general, admission.grant)
  }

  #lookLater(secret: string, request: BedrockRequest, general: GeneralHeaders): void {
    const { clock } = this.#context
    const peer = new RequestPeer(this.#address, nobody, this.#closing, general.timeoutMs, true)
    const waiting: Run = { peer, general, begunAt: clock.now(), dueAt: never, bytes: request.bytes }
    this.#run = waiting
    void this.#client.wait().then((mayLook) => {
      if (this.#run !== waiting) return
      this.#run = undefined
      if (mayLook) this.#proceed(request, general, this.#client.look(secret))
      else this.#sendLast(tooManyFailures)
      this.#serve()
    })
  }

  #admitted(): void {
    const { strangers, limits } = this.#context
    strangers?.remove(this.#socket)
    this.#parser.limits = limits
  }

  #hasBegunWithToken(): boolean {
    return this.#client.hasBegunWithToken(this.#parser.begunHeaders)
  }

  #proceed(request: BedrockRequest, general: GeneralHeaders, grant: Grant | null): void {
    const { clock, forgotten } = this.#context
    if (grant === null) this.#refuse(general)
    else if (general.timeoutMs !== undefined && general.timeoutMs <= 0) this.#send(timedOut, general)
    else if (general.connection !== 'forget' && general.executeAtMs <= clock.now()) this.#carryOut(request, general, grant)
    else if (!forgotten.hasRoomFor(request)) this.#sendLast(refused)
    else {
      this.#sendLast(queued)
      forgotten.accept(request, general, this.#address, grant)
    }
  }

  #refuse(general: GeneralHeaders): void {
    if (++this.#refusals < this.#context.limits.strangerRequests) this.#send(unauthorized, general)
    else this.#sendLast(unauthorized)
  }

  #carryOut(request: BedrockRequest, general: GeneralHeaders, grant: Grant): void {
    const { answer, clock, limits, logger, onRequest } = this.#context
    onRequest(this)
    const peer = new RequestPeer(this.#address, grant, this.#closing, general.timeoutMs, true)
    const { bytes } = request
    const run: Run = { peer, general, begunAt: clock.now(), dueAt: answeredBefore(general, clock.now(), limits), bytes }
    this.#run = run
    if (!this.#hasRoom()) this.#answered(run, full)
    else answerWith(answer, request, peer, logger, (reply) => this.#answered(run, reply))
  }

  #answered(run: Run, reply: BedrockReply): void {
    if (run !== this.#run) {
      reply.undelivered?.()
      return
    }
    this.#run = undefined
    this.#idleSince = this.#context.clock.now()
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
    else if (this.#writer.isBlocked) this.#deadline.set(clock.now() + limits.stalledMs)
    else if (this.#parser.isWithinRequest)
      this.#deadline.set(arrivesBefore(this.#arrivingSince, this.#client.grant === null, clock.now(), limits))
    else this.#deadline.set(this.#client.grant === null ? this.#idleSince + limits.stalledMs : never)
  }

  #due(): void {
    const run = this.#run
    if (run !== undefined) {
      this.#answered(run, timedOut)
      run.peer.gone.abort(new Error('The time of the request is up'))
    } else if (this.#isFinished || this.#writer.isBlocked) this.#socket.destroy()
    else if (this.#client.grant === null && this.#parser.isWithinRequest && this.#hasBegunWithToken()) this.#setDeadline()
    else this.#sendLast(timedOut)
  }
}
