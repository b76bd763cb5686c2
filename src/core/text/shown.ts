const mostMembers = 8
const longestText = 200

/** A short description of a value for messages: strings are quoted, and objects show their first members. Never throws. */
export function shown(value: unknown): string {
  return textOf(value, true)
}

function textOf(value: unknown, tellsMembers: boolean): string {
  try {
    if (typeof value === 'string') return `'${shortened(escaped(value))}'`
    if (typeof value === 'function') return value.name === '' ? 'a function' : `the function ${shortened(value.name)}`
    if (typeof value === 'bigint') return `${shortened(String(value))}n`
    if (typeof value !== 'object' || value === null) return shortened(String(value))
    const text = ownText(value)
    return text === null ? membersOf(value, tellsMembers) : shortened(text)
  } catch {
    return `a value of type ${typeof value} that has no text`
  }
}

/** Without line breaks and other control characters: what is shown stays on its line. */
function escaped(text: string): string {
  return JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"')
}

/** The object's own `toString`, if it says more than that it is an object. */
function ownText(value: object): string | null {
  if (Array.isArray(value) || typeof value.toString !== 'function') return null
  const text = String(value)
  return text.startsWith('[object ') ? null : text
}

function membersOf(value: object, areTold: boolean): string {
  const [open, close] = Array.isArray(value) ? ['[', ']'] : [`${className(value)}{ `, ' }']
  const names = Object.keys(value)
  if (names.length === 0) return `${open.trimEnd()}${close.trimStart()}`
  if (!areTold) return `${open.trimEnd()}…${close.trimStart()}`
  const told = names.slice(0, mostMembers).map((name) => {
    const member = textOf((value as Readonly<Record<string, unknown>>)[name], false)
    return Array.isArray(value) ? member : `${shortened(name)}: ${member}`
  })
  return `${open}${[...told, ...(names.length > mostMembers ? ['…'] : [])].join(', ')}${close}`
}

function className(value: object): string {
  const made = value.constructor
  return typeof made !== 'function' || made === Object ? '' : `${shortened(made.name)} `
}

function shortened(text: string): string {
  return text.length > longestText ? `${text.slice(0, longestText)}…` : text
}
