import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

type Exchange = readonly [request: IncomingMessage, response: ServerResponse]

/**
 * Handles the requests that a client sends ahead on one connection one after the other: each when the one before is answered, and
 * none after the connection has ended. A client that sends too many ahead is disconnected.
 */
export function inOrder(handle: RequestListener, maxAhead: number): RequestListener {
  /** The requests that wait on each connection whose current request is being handled. */
  const lines = new WeakMap<Socket, Exchange[]>()

  const begin = ([request, response]: Exchange): void => {
    response.once('close', () => next(request.socket))
    handle(request, response)
  }

  const next = (socket: Socket): void => {
    const exchange = lines.get(socket)?.shift()
    if (exchange === undefined) lines.delete(socket)
    // Node gives the connection to the next response, unless the one before was its last.
    else if (exchange[1].socket !== null) begin(exchange)
  }

  return (request, response) => {
    const { socket } = request
    const line = lines.get(socket)
    if (line === undefined) {
      lines.set(socket, [])
      begin([request, response])
    } else if (line.push([request, response]) > maxAhead) socket.destroy()
  }
}
