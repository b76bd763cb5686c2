/** Replaces a secret. */
const mask = '***'

/** A URL that is safe to show, well formed or not: without passwords before its host or in its parameters. */
export function maskedUrl(url: string): string {
  const withoutPassword = ofFiles.test(url) || credentialFree.test(url) ? url : withoutCredentials(url)
  return withoutPassword.replaceAll(parameter, (whole, start: string, name: string, value: string) => {
    if (secretName.test(decoded(name))) return `${start}${name}=${mask}`
    const inner = decoded(value)
    const hasSecret = (inner.includes('@') && withoutCredentials(inner) !== inner) || masked(inner) !== inner
    return hasSecret ? `${start}${name}=${mask}` : whole
  })
}

/**
 * Removes URLs' credentials and passwords from a text such as a driver's message. A mere name with a colon (`to:ada@…`) is kept,
 * because most texts are not about URLs.
 */
export function masked(text: string): string {
  if (!suspicious.test(text)) return text
  return text
    .replaceAll(unknownHost, `$1${mask}`)
    .replaceAll(databaseUrl, withoutCredentials)
    .replaceAll(anyUrl, withoutCredentials)
    .replaceAll(assignment, `$1=${mask}`)
    .replaceAll(accessSignature, `$1${mask}`)
    .replaceAll(member, `$1$2${mask}$2`)
}

/** Whether a value with this name must not be shown. */
function isSecretName(name: string): boolean {
  return memberName.test(name)
}

/** Whether a member of an object is a secret by its name. */
export function isSecretMember(name: string, value: unknown): boolean {
  return typeof value === 'string' && isSecretName(name)
}

/** Masks secrets in an error and everything attached to it, in place, for callers that print it whole. */
export function maskError(thrown: unknown, depth = 0): void {
  try {
    if (!(thrown instanceof Error) || depth > deepest) return
    for (const name of new Set(['message', 'stack', ...Object.keys(thrown)])) {
      const value: unknown = Reflect.get(thrown, name)
      if (typeof value !== 'string') continue
      const safe = masked(value)
      if (safe !== value) Object.defineProperty(thrown, name, { value: safe, configurable: true, writable: true })
    }
    maskError(thrown.cause, depth + 1)
    if (thrown instanceof AggregateError) for (const inner of thrown.errors) maskError(inner, depth + 1)
  } catch {
    // It cannot be read or changed, so it cannot be printed either.
  }
}

const deepest = 5
const ofFiles = /^\s*(?:sqlite|memory|sync):/i
/** A host, port, path and parameters, with no `@` before them. */
const credentialFree = /^\s*[a-z][a-z0-9+.-]*:\/\/(?:\[[^\]]*\]|[^\s:/?#@[\]]*)(?::\d{1,5})?(?:\/[^@?#]*)?\?(?=[\w.%-]+=)/i
const parameter = /(^|[?&;]\s*)([^=&;?]+)=([^&;]*)/g
const secretNames = 'password|passwd|passphrase|pwd|token|secret|sharedaccesskey|accesskey|api[_-]?key|credential'
const secretName = new RegExp(`${secretNames}|pass|signature|^(?:key|sig)$`, 'i')

const memberName = new RegExp(secretNames, 'i')

const suspicious = /@|%40|pass|pwd|token|secret|key|credential|sig=/i
// Every repetition is bounded, so that no input takes long to match.
const databaseUrl =
  /\b(?:postgres(?:ql)?|mysql|mariadb|rediss?|amqps?|mongodb(?:\+srv)?):(?:[\\/]{1,4}[^\n]{0,500}|[^\s"'`]{1,500})(?:@|%40)/gi
/** A driver that has taken a password for a part of the host says so without the rest of the URL. */
const unknownHost = /\b((?:ENOTFOUND|EAI_AGAIN|ECONNREFUSED)\s{1,4})[^\s@]{1,500}(?=@)/g
const anyUrl = /\b[a-z][a-z0-9+.-]{0,20}:[\\/]{2}[^\s"'`<>]{0,500}@/gi
const assignment = new RegExp(
  String.raw`\b([\w.-]{0,40}(?:${secretNames})[\w.-]{0,40})=(?:"[^"\n]{0,500}"|'[^'\n]{0,500}'|[^\s&;,"'<>)\]}${'`'}]{1,500})`,
  'gi',
)
/** In the shared access signature of a service bus. */
const accessSignature = /([\s&?]sig=)[^\s&;,"'`]{1,500}/gi
const member = new RegExp(
  // By name, because some minifiers take \2 in a template for an octal escape.
  String.raw`(["']?\b[\w.-]{0,40}(?:${secretNames})[\w.-]{0,40}["']?\s{0,4}:\s{0,4})(?<quote>["'${'`'}])[^\n"'${'`'}]{1,500}\k<quote>`,
  'gi',
)

/** The password may contain anything, even unescaped characters: it ends at the last `@`. */
function withoutCredentials(url: string): string {
  const end = Math.max(url.lastIndexOf('@'), url.includes('@') ? -1 : url.toLowerCase().lastIndexOf('%40'))
  if (end < 0) return url.replace(hostless, `$1${mask}`)
  const start = /^\s*[a-z][a-z0-9+.-]*:[\\/]+/i.exec(url)?.[0].length ?? 0
  const colon = url.slice(start, end).search(/:|%3a/i)
  if (colon >= 0) return `${url.slice(0, start + colon)}:${mask}${url.slice(end)}`
  return url.replace(token, `$1${mask}`)
}

/** A name with a password, where the host was left out: what comes after the colon is not a port. */
const hostless = /^(\s*[a-z][a-z0-9+.-]*:\/\/[^\s:/?#,[\]]*:)(?!\d{1,5}(?:[/?#,]|\s*$))[^/?#,]+/i

/** Where a name without a password is usually a token, or a password without its colon. */
const token = /^(\s*(?:https?|rediss?|valkeys?):[\\/]+)[^/?#@]+(?=@)/i

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
