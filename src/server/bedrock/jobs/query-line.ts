import { Refusal } from '../wire/refusal.ts'

const mostWaiting = 16

/**
 * Queries run one at a time, because each takes a process. The others wait their turn; once too many are waiting, new ones are
 * refused immediately.
 */
export class QueryLine {
  readonly #waiting: (() => void)[] = []
  #isBusy = false

  async inTurn<Answer>(signal: AbortSignal, work: () => Promise<Answer>): Promise<Answer> {
    if (this.#isBusy) await this.#turn(signal)
    this.#isBusy = true
    try {
      return await work()
    } finally {
      const next = this.#waiting.shift()
      if (next === undefined) this.#isBusy = false
      else next()
    }
  }

  /** A client that disconnects leaves the line. */
  #turn(signal: AbortSignal): Promise<void> {
    if (this.#waiting.length >= mostWaiting) throw new Refusal(502, 'Query failed: too many queries are waiting, try again later')
    return new Promise((resolve, reject) => {
      const leave = () => {
        const at = this.#waiting.indexOf(begin)
        if (at < 0) return
        this.#waiting.splice(at, 1)
        reject(new Refusal(502, 'Query failed: its client is gone'))
      }
      const begin = () => {
        signal.removeEventListener('abort', leave)
        resolve()
      }
      this.#waiting.push(begin)
      signal.addEventListener('abort', leave, { once: true })
      if (signal.aborted) leave()
    })
  }
}
