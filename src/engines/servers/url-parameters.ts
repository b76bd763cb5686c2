import { nearest } from '../../core/options.ts'

/** A URL as the driver gets it, and the parameters in it that were meant for the queue. */
export interface ParsedUrl<Name extends string> {
  readonly url: string
  readonly parameters: Readonly<Partial<Record<Name, string>>>
}

/** Driver options whose names resemble some of the queue's. */
const driversOwn: readonly string[] = ['query_timeout']

/**
 * Removes the queue's own parameters from a URL. Undefined if it is not a URL. A name that nearly matches one of the queue's is a
 * problem, because the driver would accept it silently.
 */
export function takeParameters<Name extends string>(
  url: string,
  names: readonly Name[],
  problems: string[],
): ParsedUrl<Name> | undefined {
  if (!URL.canParse(url)) return undefined
  const parsed = new URL(url)
  const parameters: Partial<Record<Name, string>> = {}
  for (const name of names) {
    const value = parsed.searchParams.get(name)
    if (value === null) continue
    parameters[name] = value
    parsed.searchParams.delete(name)
  }
  for (const name of new Set(parsed.searchParams.keys())) {
    const near = driversOwn.includes(name) ? undefined : nearest(name, names)
    if (near !== undefined) problems.push(`unknown parameter "${name}" in its url, did you mean "${near}"?`)
  }
  return { url: parsed.href, parameters }
}

/** The URL of a queue to which a pool may be given instead: empty then. `example` shows how to write one. */
export function urlOrPool<Name extends string>(
  { url, pool }: { readonly url?: string; readonly pool?: object },
  names: readonly Name[],
  example: string,
  problems: string[],
): ParsedUrl<Name> {
  if ((url === undefined) === (pool === undefined)) problems.push('give either a url or a pool')
  const parsed = takeParameters(url ?? '', names, problems)
  if (url !== undefined && parsed === undefined) problems.push(`write its url as ${example}`)
  return parsed ?? { url: '', parameters: {} as Partial<Record<Name, string>> }
}

export function switchOf(text: string | undefined, name: string, problems: string[]): boolean | undefined {
  if (text === undefined || text === 'true' || text === 'false') return text === undefined ? undefined : text === 'true'
  problems.push(`${name} must be true or false, got ${JSON.stringify(text)}`)
  return undefined
}
