import { conformanceTitles } from '../../src/testing/conformance/index.ts'

const reasons: Readonly<Record<string, string>> = {
  patterns: 'a claim must name its jobs',
}

/** Groups that need parts of the contract that this engine does not have. */
const parts = Object.fromEntries(
  conformanceTitles.flatMap(({ group, needs }) => needs.flatMap((part) => (part in reasons ? [[group, reasons[part]]] : []))),
) as Readonly<Record<string, string>>

/** What the conformance suite does not ask of the redis backend, and why not. */
export const redisGaps: Readonly<Record<string, string>> = {
  ...parts,
  'ending a job in a transaction': 'it is no SQL database',
}
