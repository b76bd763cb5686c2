import type { Socket } from 'node:net'
import type { Clock } from '../../core/clock.ts'
import type { Logger } from '../../core/logger.ts'
import { type Access, bearerOf } from '../access/access.ts'
import { everything, Grant } from '../access/grant.ts'
import type { Strangers } from '../strangers.ts'
import type { UnreadReplies } from '../unread-replies.ts'
import { answerWith, fromBrowser, full, queued, refused, timedOut, tooLarge, tooManyFailures, unauthorized } from './answering.ts'
import { isFromBrowser, isPlainHttp } from './browser-request.ts'
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
import type { UnfinishedBytes } from './unfinished-bytes.ts'

export interface ConnectionContext {
  readonly answer: BedrockAnswer
  readonly access: Access
  readonly needsToken: (request: BedrockRequest) => boolean
  /** A client has asked for something. */
  readonly onRequest: (client: object) => void
  readonly forgotten: Forgotten
  readonly unfinished: UnfinishedBytes
  readonly unread: UnreadReplies
  /** Undefined where no token is needed. */
  readonly strangers: Strangers | undefined
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
  /** Of its request. */
  readonly bytes: number
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
  /** What its client may do: null until a token is shown. */
  #grant: Grant | null
  /** The token that was shown last, and is not looked up again. */
  #secret: string | undefined
  #refusals = 0
  /** Since when the request has been arriving that is not complete. */
  #arrivingSince: number | undefined
  /** Since when nothing has been asked for. */
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
    this.#grant = context.access.ofEverybody
    this.#idleSince = clock.now()
    const { strangerBytes } = limits
    this.#parser = new RequestParser(
      this.#grant === null ? { ...limits, headerBytes: strangerBytes, bodyBytes: strangerBytes } : limits,
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
    this.#hasRoom()
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

  /** Whether what has arrived and what is being carried out may be kept. */
  #hasRoom(): boolean {
    const before = this.#countedBytes
    this.#countedBytes = this.#parser.heldBytes + (this.#run?.bytes ?? 0)
    return this.#context.unfinished.change(before, this.#countedBytes)
  }

  /** Nothing is being carried out, and no reply waits to be read. */
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
    else if (!needsToken(request)) this.#proceed(request, general, this.#grant ?? nobody)
    else this.#admit(request, general)
  }

  /** Looks at the token where the request shows another one than the last. */
  #admit(request: BedrockRequest, general: GeneralHeaders): void {
    const { access } = this.#context
    const secret = shownSecret(request.headers)
    const isKnown = secret === undefined || secret === this.#secret
    const delayMs = isKnown ? 0 : access.delayMs(this.#address.remoteAddress)
    if (isKnown) this.#proceed(request, general, this.#grant)
    else if (delayMs === null) this.#sendLast(tooManyFailures)
    else if (delayMs === 0) this.#proceed(request, general, this.#look(secret))
    else this.#lookLater(secret, request, general)
  }

  #lookLater(secret: string, request: BedrockRequest, general: GeneralHeaders): void {
    const { access, clock } = this.#context
    const peer = new RequestPeer(this.#address, nobody, this.#closing, general.timeoutMs, true)
    const waiting: Run = { peer, general, begunAt: clock.now(), dueAt: never, bytes: request.bytes }
    this.#run = waiting
    void access.wait(this.#address.remoteAddress).then((mayLook) => {
      if (this.#run !== waiting) return
      this.#run = undefined
      if (mayLook) this.#proceed(request, general, this.#look(secret))
      else this.#sendLast(tooManyFailures)
      this.#serve()
    })
  }

  #look(secret: string): Grant | null {
    const { access, strangers, limits } = this.#context
    this.#grant = access.grantOf(secret, this.#address.remoteAddress)
    this.#secret = this.#grant === null ? undefined : secret
    if (this.#grant === null) return null
    strangers?.remove(this.#socket)
    this.#parser.limits = limits
    return this.#grant
  }

  /** A request may be large where it shows its token first. */
  #hasBegunWithToken(): boolean {
    const secret = this.#grant === null ? shownSecret(this.#parser.begunHeaders) : undefined
    return secret !== undefined && this.#context.access.delayMs(this.#address.remoteAddress) === 0 && this.#look(secret) !== null
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
    const { answer, clock, logger, onRequest } = this.#context
    onRequest(this)
    const peer = new RequestPeer(this.#address, grant, this.#closing, general.timeoutMs, true)
    const { bytes } = request
    const run: Run = { peer, general, begunAt: clock.now(), dueAt: this.#dueAt(general), bytes }
    this.#run = run
    if (!this.#hasRoom()) this.#answered(run, full)
    else answerWith(answer, request, peer, logger, (reply) => this.#answered(run, reply))
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
    else if (this.#parser.isWithinRequest) this.#deadline.set(this.#arrivesBefore(limits))
    else this.#deadline.set(this.#grant === null ? this.#idleSince + limits.stalledMs : never)
  }

  /** To send a little from time to time keeps a request alive, but not for ever, and not without a token. */
  #arrivesBefore({ stalledMs, arrivalMs, strangerMs }: BedrockLimits): number {
    const now = this.#context.clock.now()
    const since = this.#arrivingSince ?? now
    return this.#grant === null ? since + strangerMs : Math.min(now + stalledMs, since + arrivalMs)
  }

  #due(): void {
    const run = this.#run
    if (run !== undefined) {
      this.#answered(run, timedOut)
      run.peer.gone.abort(new Error('The time of the request is up'))
    } else if (this.#isFinished || this.#writer.isBlocked) this.#socket.destroy()
    else if (this.#grant === null && this.#parser.isWithinRequest && this.#hasBegunWithToken()) this.#setDeadline()
    else this.#sendLast(timedOut)
  }
}

/** Who has shown no token: load balancers ask whether the server lives. */
const nobody = new Grant('read', { queues: [] })

/** What the headers show: `token: …` or `Authorization: Bearer …`. Undefined where they show nothing. */
function shownSecret(headers: ReadonlyMap<string, string>): string | undefined {
  return headers.get('token') ?? bearerOf(headers.get('authorization'))
}
