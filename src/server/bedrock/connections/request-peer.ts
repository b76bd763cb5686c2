import type { Grant } from '../../access/grant.ts'
import { isLoopbackAddress } from '../../loopback.ts'
import { LazyAbort } from './lazy-abort.ts'
import type { BedrockPeer } from './peer.ts'

export interface PeerAddress {
  readonly remoteAddress: string
  readonly isLoopback: boolean
}

export class RequestPeer implements BedrockPeer {
  readonly remoteAddress: string
  readonly isLoopback: boolean
  readonly grant: Grant
  readonly timeoutMs: number | undefined
  readonly isListening: boolean
  readonly gone = new LazyAbort()
  readonly #closing: LazyAbort

  constructor(address: PeerAddress, grant: Grant, closing: LazyAbort, timeoutMs: number | undefined, isListening: boolean) {
    this.grant = grant
    this.remoteAddress = address.remoteAddress
    this.isLoopback = address.isLoopback
    this.timeoutMs = timeoutMs
    this.isListening = isListening
    this.#closing = closing
  }

  get signal(): AbortSignal {
    return this.gone.signal
  }

  get closing(): AbortSignal {
    return this.#closing.signal
  }
}

const mapped = /^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/i

export function peerAddress(address: string | undefined): PeerAddress {
  const remoteAddress = (address ?? '').replace(mapped, '')
  return { remoteAddress, isLoopback: isLoopbackAddress(remoteAddress) }
}
