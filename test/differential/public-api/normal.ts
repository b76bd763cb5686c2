import { TreadleError } from 'treadle'
import { ServerProblem } from 'treadle/client'

const anId = /[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/g
const anInstant = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g
/** What an identity says of ids that are not stored in it. */
const aDigest = /^[\w-]{22}$/
const encrypted = /\{"encrypted":true[^}]*\}/g
const rangeMs = 400 * 86_400_000

/** What differs between two runs of the same program, however right both are. */
const ofOneRun = new Set(['owner', 'signature', 'token', 'durationMs', 'nonce', 'data', 'stack'])

/** Says what was seen in words that are the same on every engine: ids by their order, instants from the start of the program. */
export class Normal {
  readonly #startMs: number
  readonly #names = new Map<string, string>()

  constructor(startMs: number) {
    this.#startMs = startMs
  }

  of(value: unknown): unknown {
    if (typeof value === 'string') return this.#text(value)
    if (typeof value === 'number') return this.#number(value)
    if (typeof value !== 'object' || value === null) return value
    if (value instanceof Date) return this.#number(value.getTime())
    if (value instanceof TreadleError) return { code: value.code, message: this.#text(value.message) }
    if (value instanceof ServerProblem) return { problem: this.of(value.problem) }
    if (value instanceof Error) return { error: value.name, message: this.#text(value.message) }
    if (Array.isArray(value)) return value.map((each) => this.of(each))
    return this.#object(value)
  }

  #object(value: object): unknown {
    const members = Object.entries(value).filter(([, member]) => member !== undefined)
    return Object.fromEntries(
      members.map(([name, member]) => {
        if (ofOneRun.has(name)) return [name, member === null ? null : 'given']
        if (name === 'seal') return [name, member === null ? null : 'sealed']
        return [this.#text(name), this.of(member)]
      }),
    )
  }

  #number(value: number): unknown {
    const from = value - this.#startMs
    return Math.abs(from) < rangeMs ? `t+${from}` : value
  }

  #text(text: string): string {
    const isJson = text.startsWith('{') || text.startsWith('[')
    if (isJson) {
      try {
        return JSON.stringify(this.of(JSON.parse(text)))
      } catch {
        // Only a text that looks like JSON.
      }
    }
    if (aDigest.test(text)) return 'digest'
    return text
      .replaceAll(encrypted, 'encrypted')
      .replaceAll(anId, (id) => this.#name(id))
      .replaceAll(anInstant, (instant) => String(this.#number(Date.parse(instant))))
  }

  #name(id: string): string {
    const name = this.#names.get(id) ?? `job#${this.#names.size}`
    this.#names.set(id, name)
    return name
  }
}
