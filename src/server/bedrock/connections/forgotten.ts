import type { Logger } from '../../../core/logger.ts'
import type { Clock, Timer } from '../../../core/time/clock.ts'
import type { Grant } from '../../access/grant.ts'
import { answerWith } from '../answering.ts'
import type { BedrockLimits } from '../limits.ts'
import type { GeneralHeaders } from '../wire/general-headers.ts'
import type { BedrockRequest } from '../wire/request.ts'
import { LazyAbort } from './lazy-abort.ts'
import type { BedrockAnswer } from './peer.ts'
import { type PeerAddress, RequestPeer } from './request-peer.ts'

export interface ForgottenContext {
  readonly answer: BedrockAnswer
  readonly clock: Clock
  readonly limits: BedrockLimits
  readonly logger: Logger
}

const nothing = Buffer.alloc(0)

/**
 * Requests whose clients do not wait for the reply. They are executed anyway, now or at their own time, and their replies count
 * as undelivered.
 */
export class Forgotten {
  readonly #context: ForgottenContext
  readonly #closing = new LazyAbort()
  readonly #running = new Map<RequestPeer, Timer>()
  readonly #planned = new Set<Timer>()
  #heldBytes = 0
  #onEmpty: (() => void) | undefined

  constructor(context: ForgottenContext) {
    this.#context = context
  }

  hasRoomFor({ bytes }: BedrockRequest): boolean {
    const { forgotten, forgottenBytes } = this.#context.limits
    return this.#running.size + this.#planned.size < forgotten && this.#heldBytes + bytes <= forgottenBytes
  }

  accept(given: BedrockRequest, general: GeneralHeaders, address: PeerAddress, grant: Grant): void {
    const { clock } = this.#context
    // No command reads the body. Keeping it would keep the whole received buffer alive.
    const request = { ...given, body: nothing }
    this.#heldBytes += request.bytes
    const delayMs = general.executeAtMs - clock.now()
    if (delayMs <= 0) {
      this.#begin(request, general, address, grant)
      return
    }
    const planned = clock.timer(
      delayMs,
      () => {
        this.#planned.delete(planned)
        this.#begin(request, general, address, grant)
      },
      { unref: true },
    )
    this.#planned.add(planned)
  }

  /** Resolves when all requests that have started are finished. Requests planned for later are dropped. */
  stop(): Promise<void> {
    if (this.#planned.size > 0) {
      this.#context.logger.warn(`${this.#planned.size} requests with a later commandExecuteTime are not carried out any more`)
    }
    // Their bytes are not released: nothing is accepted after this.
    for (const timer of this.#planned) timer.cancel()
    this.#planned.clear()
    this.#closing.abort(new Error('The server is stopping'))
    return new Promise((resolve) => {
      this.#onEmpty = resolve
      this.#tellEmpty()
    })
  }

  destroy(): void {
    for (const [peer, timer] of this.#running) {
      timer.cancel()
      peer.gone.abort(new Error('The server has stopped'))
    }
    this.#running.clear()
    this.#tellEmpty()
  }

  #begin(request: BedrockRequest, { timeoutMs }: GeneralHeaders, address: PeerAddress, grant: Grant): void {
    const { answer, clock, limits, logger } = this.#context
    const peer = new RequestPeer(address, grant, this.#closing, timeoutMs, false)
    const expire = () => peer.gone.abort(new Error('The time of the request is up'))
    this.#running.set(peer, clock.timer(timeoutMs ?? limits.forgottenMs, expire, { unref: true }))
    answerWith(answer, request, peer, logger, (reply) => {
      this.#running.get(peer)?.cancel()
      this.#running.delete(peer)
      this.#heldBytes -= request.bytes
      reply.undelivered?.()
      this.#tellEmpty()
    })
  }

  #tellEmpty(): void {
    if (this.#running.size === 0) this.#onEmpty?.()
  }
}
