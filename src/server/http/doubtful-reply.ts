import type { Socket } from 'node:net'
import type { Clock } from '../../core/time/clock.ts'

/** How long after a reply the connection is watched; the same as in the TCP protocol. */
const doubtMs = 50

/**
 * The operating system may accept a reply for a client that is already gone. If the connection breaks shortly afterwards, no one
 * has used the reply, and `lost` is called. A client that closes cleanly is assumed to have read it. A client that sends another
 * request on the same connection has read the previous reply.
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

/** A function for each connection that stops watching its last reply. */
const watched = new WeakMap<Socket, () => void>()
