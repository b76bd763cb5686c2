import type { Server } from 'node:net'
import { messageOf, TreadleError } from '../core/errors.ts'

export interface ListeningPlace {
  readonly host: string
  /** 0 means any free port. */
  readonly port: number
}

/** Resolves when the server listens. Rejects with `LISTEN_FAILED` if it cannot. */
export function listening(server: Server, { host, port }: ListeningPlace): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const reason = error.code === 'EADDRINUSE' ? 'another program listens there' : messageOf(error)
      const message = `Nothing can listen on ${host}:${port}: ${reason}. Choose another host or port.`
      reject(new TreadleError('LISTEN_FAILED', message, { cause: error }))
    })
    server.listen({ host, port }, () => {
      server.removeAllListeners('error')
      resolve()
    })
  })
}
