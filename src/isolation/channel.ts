import type { Isolation } from '../definition/policies/isolation.ts'
import type { Death } from './death.ts'
import type { Sealed } from './sealed.ts'
import type { ToIsolate } from './wire/messages.ts'

/** The way to one thread or process. */
export interface Channel {
  /** Throws for what cannot be copied. */
  post(message: Sealed<ToIsolate>): void
  /** Whether it keeps the program alive. */
  hold(isHeld: boolean): void
  kill(): void
}

export interface ChannelEvents {
  /** Whatever came: a handler can send anything through its thread or process. */
  onMessage(message: unknown): void
  /** Something was printed. It is passed on to the worker's own output already. */
  onOutput(stream: 'stdout' | 'stderr', chunk: Buffer): void
  /** Once, when nothing of it is left. */
  onEnded(death: Death): void
}

export interface ChannelOptions extends Pick<Isolation, 'memoryBytes'> {
  /** The file that an isolate runs. */
  readonly entry: URL
}

export type OpenChannel = (options: ChannelOptions, events: ChannelEvents) => Channel
