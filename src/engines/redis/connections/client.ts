/** The part of an `ioredis` client that the queue uses. A cluster client has it as well. */
export interface RedisClient {
  call(command: string, args: (string | number)[]): Promise<unknown>
  pipeline(commands: (string | number)[][]): { exec(): Promise<[error: Error | null, result: unknown][] | null> }
  duplicate(...args: unknown[]): RedisClient
  subscribe(...channels: string[]): Promise<unknown>
  connect(): Promise<void>
  on(event: string, listener: (...args: unknown[]) => void): unknown
  off(event: string, listener: (...args: unknown[]) => void): unknown
  disconnect(reconnect?: boolean): void
  readonly status: string
}
