import type { Clock, Timer } from '../../core/clock.ts'
import type { Logger } from '../../core/logger.ts'
import { answerWith } from './answering.ts'
import type { GeneralHeaders } from './general-headers.ts'
import { LazyAbort } from './lazy-abort.ts'
import type { BedrockLimits } from './limits.ts'
import type { BedrockAnswer } from './peer.ts'
import type { BedrockRequest } from './request.ts'
import { type PeerAddress, RequestPeer } from './request-peer.ts'

export interface ForgottenContext {
  readonly answer: BedrockAnswer
  readonly clock: Clock
  readonly limits: BedrockLimits
  readonly logger: Logger
}

/** Requests that nobody waits for: they are carried out all the same, now or at their own time, and their replies count as lost. */
export class Forgotten {
  readonly #context: ForgottenContext
  readonly #closing = new LazyAbort()
  readonly #running = new Map<RequestPeer, Timer>()
  readonly #planned = new Set<Timer>()
  #onEmpty: (() => void) | undefined

  constructor(context: ForgottenContext) {
    this.#context = context
  }

  get isFull(): boolean {
    return this.#running.size + this.#planned.size >= this.#context.limits.forgotten
  }

  accept(request: BedrockRequest, general: GeneralHeaders, address: PeerAddress): void {
    const { clock } = this.#context
    const delayMs = general.executeAtMs - clock.now()
    if (delayMs <= 0) {
      this.#begin(request, general, address)
      return
    }
    const planned = clock.timer(
      delayMs,
      () => {
        this.#planned.delete(planned)
        this.#begin(request, general, address)
      },
      { unref: true },
    )
    this.#planned.add(planned)
  }

  /** Resolves when all that was begun has ended. What was planned for later is not carried out any more. */
  stop(): Promise<void> {
    if (this.#planned.size > 0) {
      this.#context.logger.warn(`${this.#planned.size} requests with a later commandExecuteTime are not carried out any more`)
    }
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

  #begin(request: BedrockRequest, { timeoutMs }: GeneralHeaders, address: PeerAddress): void {
    const { answer, clock, limits, logger } = this.#context
    const peer = new RequestPeer(address, this.#closing, timeoutMs, false)
    const expire = () => peer.gone.abort(new Error('The time of the request is up'))
    this.#running.set(peer, clock.timer(timeoutMs ?? limits.forgottenMs, expire, { unref: true }))
    answerWith(answer, request, peer, logger, (reply) => {
      this.#running.get(peer)?.cancel()
      this.#running.delete(peer)
      reply.undelivered?.()
      this.#tellEmpty()
    })
  }

  #tellEmpty(): void {
    if (this.#running.size === 0) this.#onEmpty?.()
  }
}
