import { TreadleError } from '../errors.ts'

/** A number of bytes, or a string such as `'256mb'` or `'1.5gb'`. A kilobyte is 1024 bytes. */
export type ByteSize = number | string

const unitBytes: Readonly<Record<string, number>> = { b: 1, kb: 1024, mb: 1024 ** 2, gb: 1024 ** 3 }
const sizeText = /^(\d+(?:\.\d+)?)(b|kb|mb|gb)$/i

/** The size in whole bytes. `what` names the option in the error. */
export function parseByteSize(value: ByteSize, what: string): number {
  const bytes = typeof value === 'number' ? value : typeof value === 'string' ? textBytes(value) : Number.NaN
  if (!Number.isFinite(bytes) || bytes < 0 || bytes > Number.MAX_SAFE_INTEGER) {
    const accepted = "a number of bytes or a string such as '64mb', '1.5gb'"
    throw new TreadleError('CONFIG_INVALID', `${what} must be ${accepted}, got ${JSON.stringify(value) ?? String(value)}`)
  }
  return Math.round(bytes)
}

function textBytes(text: string): number {
  const [, count, unit = ''] = sizeText.exec(text) ?? []
  return Number(count) * (unitBytes[unit.toLowerCase()] ?? Number.NaN)
}
