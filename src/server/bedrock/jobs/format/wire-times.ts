import { Refusal } from '../../wire/refusal.ts'

/** UTC, in whole seconds: `2016-10-18 18:45:19`. */
export function wireTime(ms: number): string {
  return new Date(ms).toISOString().slice(0, 19).replace('T', ' ')
}

/** The instant as `wireTime` shows it. */
export function wholeSecond(ms: number): number {
  return Math.floor(ms / 1_000) * 1_000
}

/** UTC, with milliseconds if there are any. */
export function exactWireTime(ms: number): string {
  const text = new Date(ms).toISOString().replace('T', ' ').slice(0, 23)
  return text.endsWith('.000') ? text.slice(0, 19) : text
}

const form = /^(\d{4}-\d{2}-\d{2})(?:[ T](\d{2}:\d{2})(?::(\d{2}(?:\.\d{1,3})?))?Z?)?$/

/** Parses a time given by a client. The public server stores any text, and never runs a job whose time is invalid. */
export function parseWireTime(text: string, what: string): number {
  const parts = form.exec(text)
  const [, date, time = '00:00', seconds = '00'] = parts ?? []
  const ms = Date.parse(`${date}T${time}:${seconds}Z`)
  // Dates that do not exist, such as 31 June, come out different from what was given.
  if (parts === null || Number.isNaN(ms) || !new Date(ms).toISOString().startsWith(date as string)) {
    throw new Refusal(402, `Malformed ${what}`)
  }
  return ms
}
