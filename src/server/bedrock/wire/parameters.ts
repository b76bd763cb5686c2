import { Refusal } from './refusal.ts'
import type { BedrockRequest } from './request.ts'
import { isInt64 } from './wire-values.ts'

/** The value of a header; undefined if it is missing or empty. */
export function textOf({ headers }: BedrockRequest, name: string): string | undefined {
  return headers.get(name.toLowerCase()) || undefined
}

/** The value of a header as it was sent; may be empty. */
export function rawTextOf({ headers }: BedrockRequest, name: string): string | undefined {
  return headers.get(name.toLowerCase())
}

export function has({ headers }: BedrockRequest, name: string): boolean {
  return headers.has(name.toLowerCase())
}

/** A required text of at most `mostBytes` bytes. */
export function requiredText(request: BedrockRequest, name: string, mostBytes: number): string {
  const text = textOf(request, name)
  if (text === undefined) throw new Refusal(402, `Missing ${name}`)
  if (Buffer.byteLength(text) > mostBytes) throw new Refusal(402, `Malformed ${name}`)
  return text
}

export function jobNumberOf(request: BedrockRequest): number {
  const text = textOf(request, 'jobID')
  if (text === undefined) throw new Refusal(402, 'Missing jobID')
  if (!isInt64(text)) throw new Refusal(402, 'Malformed jobID')
  const number = Number(text)
  if (number < 1 || !Number.isSafeInteger(number)) throw new Refusal(404, 'No job with this jobID')
  return number
}

/** `true`, or a number other than 0. */
export function isSwitchedOn(request: BedrockRequest, name: string): boolean {
  return textOf(request, name) === 'true' || isNumberedOn(request, name)
}

/** A number other than 0. */
export function isNumberedOn(request: BedrockRequest, name: string): boolean {
  return /^[+-]?0*[1-9]/.test(textOf(request, name) ?? '')
}

export function connectionOf(request: BedrockRequest): string {
  return (textOf(request, 'connection') ?? '').toLowerCase()
}
