/**
 * Over HTTP/1.1 a browser opens at most six connections to a server, for all of its windows. A stream keeps one, and a seventh
 * window could not even be loaded. So there are only as many streams as there are locks, and room for requests beside them.
 */
const locks = [1, 2, 3, 4].map((number) => `treadle-stream-${number}`)

let release: (() => void) | null = null

/** Whether this window may open a stream. It keeps its place until `giveRoom`, or until it is closed. */
export async function takeRoom(): Promise<boolean> {
  // Only pages of a secure origin have locks.
  if (release !== null || navigator.locks === undefined) return true
  for (const name of locks) if (await take(name)) return true
  return false
}

export function giveRoom(): void {
  release?.()
  release = null
}

function take(name: string): Promise<boolean> {
  return new Promise((resolve) => {
    const hold = (lock: Lock | null) => {
      const isNeeded = lock !== null && release === null
      resolve(isNeeded || release !== null)
      if (isNeeded)
        return new Promise<void>((done) => {
          release = done
        })
      return undefined
    }
    navigator.locks.request(name, { ifAvailable: true }, hold).catch(() => resolve(true))
  })
}
