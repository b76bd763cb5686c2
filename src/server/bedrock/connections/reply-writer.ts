import type { Socket } from 'node:net'
import type { Clock } from '../../../core/time/clock.ts'
import type { UnreadReplies } from '../../unread-replies.ts'
import type { BedrockLimits } from '../limits.ts'
import { type BedrockReply, replyText } from '../wire/reply.ts'
import { Deliveries } from './deliveries.ts'

const nothing = Buffer.alloc(0)
const watchMs = 10_000

/** The sending side of a connection: writes replies and detects which of them were not delivered. */
export class ReplyWriter {
  readonly #socket: Socket
  readonly #clock: Clock
  readonly #doubtMs: number
  readonly #unread: UnreadReplies
  readonly #onTaken: () => void
  readonly #deliveries: Deliveries

  /** `onTaken` is called once the client has read enough for a delayed reply to be sent. */
  constructor(socket: Socket, clock: Clock, limits: BedrockLimits, unread: UnreadReplies, onTaken: () => void) {
    this.#socket = socket
    this.#clock = clock
    this.#doubtMs = limits.doubtMs
    this.#unread = unread
    this.#onTaken = onTaken
    this.#deliveries = new Deliveries(limits.doubtMs, () => clock.now())
    socket.on('error', () => this.#deliveries.lost())
    socket.on('close', () => this.#deliveries.ended())
  }

  /** Whether a reply is waiting for the client to read. */
  get isBlocked(): boolean {
    return this.#socket.writableLength > 0
  }

  send(reply: BedrockReply): void {
    const settle = this.#deliveries.begin(reply)
    if (!this.#socket.writable) {
      settle?.(true)
      return
    }
    let hadToWait = false
    let wasRead = () => {}
    this.#socket.write(replyText(reply), (error) => {
      // A write that had to wait and was cut off ends without an error.
      settle?.((error !== null && error !== undefined) || (hadToWait && this.#socket.destroyed))
      wasRead()
      if (hadToWait) this.#onTaken()
    })
    hadToWait = this.isBlocked
    if (hadToWait) wasRead = this.#unread.add(this.#socket.writableLength, () => this.#socket.destroy())
  }

  /**
   * The client sends nothing more and may be gone. TCP keep-alive probes it from time to time, but only a write learns the
   * result.
   */
  watch(): void {
    const look = () => {
      if (!this.#socket.writable) return
      this.#socket.write(nothing)
      this.watch()
    }
    this.#clock.timer(watchMs, look, { unref: true })
  }

  /**
   * Closes this side. If the client has closed its own side, it may be gone altogether: in that case the operating system soon
   * learns that the last reply was rejected, and an empty write reveals it.
   */
  finish(clientHasEnded: boolean): void {
    if (!clientHasEnded || !this.#deliveries.hold()) {
      this.#socket.end()
      return
    }
    const probe = () => this.#socket.write(nothing, (error) => error ?? this.#socket.end())
    this.#clock.timer(this.#doubtMs, () => this.#socket.writable && probe(), { unref: true })
  }
}
