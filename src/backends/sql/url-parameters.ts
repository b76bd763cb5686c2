/** A URL as the driver gets it, and what it said for the queue. */
export interface ParsedUrl<Name extends string> {
  readonly url: string
  readonly parameters: Readonly<Partial<Record<Name, string>>>
}

/** Takes the parameters out of a URL that are not for the driver. Undefined where it is no URL. */
export function takeParameters<Name extends string>(url: string, names: readonly Name[]): ParsedUrl<Name> | undefined {
  if (!URL.canParse(url)) return undefined
  const parsed = new URL(url)
  const parameters: Partial<Record<Name, string>> = {}
  for (const name of names) {
    const value = parsed.searchParams.get(name)
    if (value === null) continue
    parameters[name] = value
    parsed.searchParams.delete(name)
  }
  return { url: parsed.href, parameters }
}

export function switchOf(text: string | undefined, name: string, problems: string[]): boolean | undefined {
  if (text === undefined || text === 'true' || text === 'false') return text === undefined ? undefined : text === 'true'
  problems.push(`${name} must be true or false, got ${JSON.stringify(text)}`)
  return undefined
}
