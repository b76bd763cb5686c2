import type { Isolation } from '../../definition/policies/isolation.ts'
import type { Death } from '../death.ts'
import type { Sealed } from '../sealed.ts'
import type { ToIsolate } from '../wire/messages.ts'

/** The connection to a thread or process. */
export interface Channel {
  /** Throws if the message cannot be cloned. */
  post(message: Sealed<ToIsolate>): void
  /** Whether the isolate keeps the program alive. */
  hold(isHeld: boolean): void
  kill(): void
}

export interface ChannelEvents {
  /** The message can be anything, because a handler can send messages through its thread or process. */
  onMessage(message: unknown): void
  /** Called with printed output, which has already been forwarded to the worker's own output. */
  onOutput(stream: 'stdout' | 'stderr', chunk: Buffer): void
  /** Called once, when the thread or process has ended completely. */
  onEnded(death: Death): void
}

export interface ChannelOptions extends Pick<Isolation, 'memoryBytes'> {
  /** The entry file of an isolate. */
  readonly entry: URL
}
