import { randomToken } from '../../../core/id.ts'
import type { Json } from '../../../core/text/json.ts'
import { textEnd } from './json-text.ts'

/** Cannot be guessed, so nothing else can be mistaken for verbatim text. */
const secret = randomToken()

/** JSON text that `writeJson` writes unchanged: its numbers may have more digits than a JavaScript number can hold. */
export function verbatim(text: string): Json {
  return `${secret}${text}`
}

export function writeJson(value: unknown): string {
  const written = JSON.stringify(value)
  const parts: string[] = []
  let from = 0
  for (let at = written.indexOf(`"${secret}`); at >= 0; at = written.indexOf(`"${secret}`, from)) {
    const end = textEnd(written, at)
    const text = JSON.parse(written.slice(at, end)) as string
    parts.push(written.slice(from, at), text.slice(secret.length))
    from = end
  }
  return from === 0 ? written : [...parts, written.slice(from)].join('')
}
