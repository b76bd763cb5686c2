/** A value of a row as SQLite writes it. Integers must have been read as `bigint`, so that a real number is known as one. */
export function sqliteText(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (typeof value === 'number') return realText(value)
  if (value instanceof Uint8Array) return Buffer.from(value).toString()
  return String(value)
}

const digits = 15

/** As `printf("%!.15g")` in SQLite: 15 digits, and at least one of them after the point. */
function realText(value: number): string {
  if (!Number.isFinite(value)) return value > 0 ? 'Inf' : '-Inf'
  const [mantissa = '', power = '0'] = value.toExponential(digits - 1).split('e')
  const exponent = Number(power)
  if (exponent >= -4 && exponent < digits) return withPoint(value.toFixed(Math.max(1, digits - 1 - exponent)))
  const sign = exponent < 0 ? '-' : '+'
  return `${withPoint(mantissa)}e${sign}${String(Math.abs(exponent)).padStart(2, '0')}`
}

function withPoint(decimal: string): string {
  return decimal.replace(/(\.\d+?)0+$/, '$1')
}
