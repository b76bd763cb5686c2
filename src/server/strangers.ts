import type { Socket } from 'node:net'

export interface StrangerLimits {
  /** Maximum number of connections per address that have not sent a token. */
  readonly perAddress: number
  readonly total: number
}

export const defaultStrangerLimits: StrangerLimits = { perAddress: 256, total: 2_000 }

/**
 * Connections that have not sent a token yet. If there are too many, a new one replaces the oldest of its own address, or of the
 * address that has the most, so that no address can lock out others.
 */
export class Strangers {
  readonly #limits: StrangerLimits
  readonly #byAddress = new Map<string, Set<Socket>>()
  #count = 0

  constructor(limits: StrangerLimits) {
    this.#limits = limits
  }

  get count(): number {
    return this.#count
  }

  add(socket: Socket): void {
    const address = socket.remoteAddress ?? ''
    const sockets = this.#byAddress.get(address) ?? new Set()
    this.#byAddress.set(address, sockets.add(socket))
    this.#count++
    socket.once('close', () => this.remove(socket, address))
    if (sockets.size > this.#limits.perAddress) this.#dropOldest(address)
    else if (this.#count > this.#limits.total) this.#dropOldest(this.#mostCrowded())
  }

  /** It has sent a token, or is closed. */
  remove(socket: Socket, address = socket.remoteAddress ?? ''): void {
    const sockets = this.#byAddress.get(address)
    if (sockets?.delete(socket) !== true) return
    this.#count--
    if (sockets.size === 0) this.#byAddress.delete(address)
  }

  #dropOldest(address: string): void {
    for (const oldest of this.#byAddress.get(address) ?? []) {
      this.remove(oldest, address)
      oldest.destroy()
      return
    }
  }

  #mostCrowded(): string {
    let [most, found] = [0, '']
    for (const [address, { size }] of this.#byAddress) if (size > most) [most, found] = [size, address]
    return found
  }
}
