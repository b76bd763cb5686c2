import type { JobNumbers } from '../../../queue/contract/store.ts'
import { field } from '../units/needs.ts'
import type { RedisStoreParts } from './store-parts.ts'

export class RedisNumbers implements JobNumbers {
  readonly #parts: RedisStoreParts

  constructor(parts: RedisStoreParts) {
    this.#parts = parts
  }

  async reserve(count: number): Promise<number> {
    await this.#parts.ready()
    const [last] = await this.#parts.server.all([['HINCRBY', 'meta', 'numbers', count]])
    return Number(last) - count + 1
  }

  async assign(ids: readonly string[]): Promise<readonly (number | null)[]> {
    if (ids.length === 0) return []
    let next = await this.reserve(ids.length)
    const first = next
    return this.#parts.units.run((queue) => {
      queue.want(ids)
      next = first
      const numbers = ids.map((id) => {
        const job = queue.job(id)
        if (job === undefined) return null
        if (job.envelope.number === null) queue.rules.jobs.giveNumber(job, next++)
        return job.envelope.number
      })
      return { answer: numbers }
    })
  }

  async find(numbers: readonly number[]): Promise<readonly (string | null)[]> {
    await this.#parts.ready()
    const ids = await this.#parts.server.read(numbers.map((number) => field('num', String(number))))
    return ids.map((id) => (typeof id === 'string' ? id : null))
  }
}
