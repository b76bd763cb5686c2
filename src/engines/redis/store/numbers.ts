import type { JobNumbers } from '../../../queue/contract/store.ts'
import { lastNumber } from '../../../queue/model/job-number.ts'
import { script } from '../connections/script.ts'
import { field } from '../units/needs.ts'
import type { RedisStoreParts } from './store-parts.ts'

/** If somebody has spoilt the counter or set it back, it continues after the last number that a job has. */
const reserveScript = script(`
local count, most = tonumber(ARGV[1]), tonumber(ARGV[2])
local last = redis.pcall('HINCRBY', KEYS[1] .. 'meta', 'numbers', count)
local first = type(last) == 'number' and last - count + 1 or 0
if first < 1 or first > most or redis.call('HEXISTS', KEYS[1] .. 'num', string.format('%.0f', first)) == 1 then
  first = 1
  for _, number in ipairs(redis.call('HKEYS', KEYS[1] .. 'num')) do
    number = tonumber(number)
    if number and number < most and number >= first then first = number + 1 end
  end
  redis.call('HSET', KEYS[1] .. 'meta', 'numbers', string.format('%.0f', first + count - 1))
end
return string.format('%.0f', first)
`)

export class RedisNumbers implements JobNumbers {
  readonly #parts: RedisStoreParts

  constructor(parts: RedisStoreParts) {
    this.#parts = parts
  }

  async reserve(count: number): Promise<number> {
    await this.#parts.ready()
    const { server } = this.#parts
    return Number(await server.run(reserveScript, [count, lastNumber]))
  }

  async assign(ids: readonly string[]): Promise<readonly (number | null)[]> {
    if (ids.length === 0) return []
    for (let first = 0, reserved = 0; ; first = await this.reserve(reserved)) {
      const given = await this.#parts.units.run<readonly (number | null)[] | number>((queue) => {
        queue.want(ids)
        const needed = new Set(ids.filter((id) => queue.job(id)?.envelope.number === null)).size
        if (needed > reserved) return { answer: needed }
        let next = first
        return { answer: queue.rules.jobs.numbersOf(ids, () => next++) }
      })
      if (typeof given !== 'number') return given
      reserved = given
    }
  }

  async find(numbers: readonly number[]): Promise<readonly (string | null)[]> {
    await this.#parts.ready()
    const ids = await this.#parts.server.read(numbers.map((number) => field('num', String(number))))
    return ids.map((id) => (typeof id === 'string' ? id : null))
  }
}
