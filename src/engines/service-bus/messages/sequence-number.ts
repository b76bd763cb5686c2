import type { SequenceNumber } from '../connections/client.ts'

/** A number in the form that the SDK accepts: the parts of the package `long` that it uses. */
export function sequenceNumber(value: bigint): SequenceNumber {
  const bytes = Buffer.alloc(8)
  bytes.writeBigInt64BE(value)
  return { __isLong__: true, toBytesBE: () => [...bytes], toString: () => String(value) } as SequenceNumber
}
