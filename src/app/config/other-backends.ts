import { TreadleError } from '../../core/errors.ts'
import { shown } from '../../core/text/shown.ts'
import type { JobDefinition } from '../../definition/definition.ts'
import { placeOfBackend } from './backend-place.ts'
import type { Place } from './opening.ts'

export const defaultBackend = 'default'

/** The backend that stores the jobs of a definition, unless a dispatch overrides it. */
export function homeOf({ fields: { backend } }: JobDefinition): string {
  return backend ?? defaultBackend
}

/** The backends of a program other than the default one. Each is created on first use. */
export class OtherBackends<Member> {
  readonly #place: () => Promise<Place>
  readonly #create: (name: string, place: Place) => Member
  readonly #members = new Map<string, Member>()

  constructor(place: () => Promise<Place>, create: (name: string, place: Place) => Member) {
    this.#place = place
    this.#create = create
  }

  /** The backends created so far. */
  get made(): readonly Member[] {
    return [...this.#members.values()]
  }

  /** All of them, or only the one with this name. Empty if that is the default one. */
  async all(only?: string): Promise<readonly Member[]> {
    const { options } = await this.#place()
    const names = Object.keys(options.backends ?? {}).filter((name) => name !== defaultBackend)
    if (only === undefined) return Promise.all(names.map((name) => this.named(name) as Promise<Member>))
    const member = await this.named(only)
    return member === undefined ? [] : [member]
  }

  /** Undefined if this is the default backend. */
  async named(name: string): Promise<Member | undefined> {
    if (name === defaultBackend) return undefined
    const { options, folder } = await this.#place()
    const { backends = {}, backend: _, coordination: _defaults, ...rest } = options
    const place = typeof name === 'string' && Object.hasOwn(backends, name) ? backends[name] : undefined
    if (place === undefined) throw unknownBackend(name, Object.keys(backends))
    let member = this.#members.get(name)
    if (member === undefined) {
      const { url, ...beside } = placeOfBackend(place)
      member = this.#create(name, { url, options: { ...rest, ...beside }, folder })
      this.#members.set(name, member)
    }
    return member
  }
}

function unknownBackend(name: string, known: readonly string[]): TreadleError {
  const names = [...new Set([defaultBackend, ...known])].join(', ')
  const advice =
    typeof name === 'string' ? `Add it: treadle({ backends: { default: …, ${name}: 'sqlite:${name}.db' } })` : 'Give its name'
  const message = `No backend is called ${shown(name)}; known: ${names}. ${advice}`
  return new TreadleError('BACKEND_UNKNOWN', message)
}
