export type { ServerToken } from './access/server-token.ts'
export { type HealthOptions, type HealthPort, type HealthSource, listenHealth } from './health.ts'
export { type Address, type JobServer, serve } from './serve.ts'
export type { ServeOptions } from './serve-options.ts'
