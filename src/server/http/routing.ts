import { prefix } from '../../client/api/operation.ts'
import type { Route } from './route.ts'

export interface Found {
  /** The routes at this address, by method. */
  readonly byMethod: ReadonlyMap<string, Route>
  readonly params: Readonly<Record<string, string>>
}

interface Place {
  readonly segments: readonly string[]
  readonly byMethod: Map<string, Route>
}

/** Where programs look for the description of an API first. */
const shortDocument = '/openapi.json'

/** Whether the address belongs to the API, and not to anything else that the server serves. */
export function isOfApi(path: string): boolean {
  return path === shortDocument || path === '/api' || path.startsWith('/api/')
}

/** Finds routes by address. */
export class Routing {
  readonly #places: readonly Place[]

  constructor(routes: readonly Route[]) {
    const places = new Map<string, Place>()
    for (const route of routes) {
      const { path, method } = route.operation
      const place = places.get(path) ?? { segments: `${prefix}${path}`.split('/'), byMethod: new Map() }
      place.byMethod.set(method, route)
      places.set(path, place)
    }
    // Literal segments take precedence over parameters: /jobs/bulk is not a job.
    this.#places = [...places.values()].toSorted((a, b) => parametersIn(a) - parametersIn(b))
  }

  /** `path` is unmodified and has no query. Null if there is no route. */
  find(path: string): Found | null {
    const segments = (path === shortDocument ? `${prefix}${shortDocument}` : path).split('/')
    for (const { segments: pattern, byMethod } of this.#places) {
      const params = paramsOf(pattern, segments)
      if (params !== null) return { byMethod, params }
    }
    return null
  }
}

function parametersIn({ segments }: Place): number {
  return segments.filter(isParameter).length
}

function isParameter(segment: string): boolean {
  return segment.startsWith('{')
}

function paramsOf(pattern: readonly string[], segments: readonly string[]): Readonly<Record<string, string>> | null {
  if (pattern.length !== segments.length) return null
  const params: Record<string, string> = {}
  for (const [at, part] of pattern.entries()) {
    const segment = segments[at] as string
    if (!isParameter(part) && part !== segment) return null
    if (!isParameter(part)) continue
    const value = decoded(segment)
    if (value === null || value === '') return null
    params[part.slice(1, -1)] = value
  }
  return params
}

/** Null if the segment contains an invalid % escape. */
function decoded(segment: string): string | null {
  try {
    return decodeURIComponent(segment)
  } catch {
    return null
  }
}
