import { randomFillSync } from 'node:crypto'

/**
 * Creates ids that sort by creation time (UUID version 7, RFC 9562): the millisecond, then a counter that starts at a random
 * value in each millisecond, then 62 random bits. Within one process they strictly increase, even if the clock steps back.
 */
export function idMaker(now: () => number): () => string {
  let lastMs = -1
  let counter = 0
  let time = ''
  const moveTo = (ms: number) => {
    lastMs = ms
    const hex = ms.toString(16).padStart(12, '0')
    time = `${hex.slice(0, 8)}-${hex.slice(8)}-7`
  }
  return () => {
    const ms = now()
    if (ms > lastMs) {
      moveTo(ms)
      counter = randomBelow(2_048)
    } else if (++counter > 4_095) {
      moveTo(lastMs + 1)
      counter = 0
    }
    return `${time}${counter.toString(16).padStart(3, '0')}-${randomTail()}`
  }
}

/** An unguessable random string of 22 characters (128 bits). */
export function randomToken(): string {
  const at = take(16)
  return pool.toString('base64url', at, at + 16)
}

// One call to the system's generator serves many ids: a call for each would cost more than the rest of a dispatch.
const pool = Buffer.allocUnsafe(8_192)
let used = pool.length

function take(bytes: number): number {
  if (used + bytes > pool.length) {
    randomFillSync(pool)
    used = 0
  }
  used += bytes
  return used - bytes
}

function randomBelow(powerOfTwo: number): number {
  return pool.readUInt16BE(take(2)) & (powerOfTwo - 1)
}

function randomTail(): string {
  const at = take(8)
  pool[at] = ((pool[at] as number) & 0x3f) | 0x80
  const hex = pool.toString('hex', at, at + 8)
  return `${hex.slice(0, 4)}-${hex.slice(4)}`
}
