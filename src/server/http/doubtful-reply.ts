import type { Socket } from 'node:net'
import type { Clock } from '../../core/time/clock.ts'

/** As long as the TCP protocol doubts its replies. */
const doubtMs = 50

/**
 * That the system took a reply does not mean that the client was still there. Where the connection breaks so soon after, nobody
 * has worked with the reply, and `lost` is called; a client that closes in peace has read it, as far as it can be known.
 * Who asks for something else over the same connection has read what came before.
 */
export function watchReply(socket: Socket, clock: Clock, lost: () => void): void {
  watched.get(socket)?.()
  const forget = () => {
    watched.delete(socket)
    timer.cancel()
    socket.off('error', broke)
    socket.off('close', forget)
  }
  const broke = () => {
    forget()
    lost()
  }
  const timer = clock.timer(doubtMs, forget, { unref: true })
  socket.once('error', broke)
  socket.once('close', forget)
  watched.set(socket, forget)
}

/** How the last reply of each connection is forgotten. */
const watched = new WeakMap<Socket, () => void>()
