import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { describe, expect, test } from 'vitest'

const root = join(import.meta.dirname, '..', '..')

/** A test that shows what happens there to a job that somebody without the key has written; found by its title, or a part of it. */
interface Shown {
  readonly file: string
  readonly titles: readonly string[]
}

const attacks = 'test/forging/forged-jobs.test.ts'
const shownByAttack = (...titles: readonly string[]): Shown => ({ file: attacks, titles })

const results = (...titles: readonly string[]): Shown => ({ file: 'test/execution/forged-results.test.ts', titles })
const kinds: Shown = { file: 'test/envelope/result-seal.test.ts', titles: ['is not to be taken for one of another kind'] }
const schedules: Shown = {
  file: 'test/forging/forged-schedules.test.ts',
  titles: ['is not followed without a signature, nor under the key of another one'],
}

/** Every place that makes a signature, or has one made. One that is new belongs here, with a test. (Engines and their rules have no keys.) */
const places: Readonly<Record<string, Readonly<Record<string, Shown>>>> = {
  reseal: {
    'src/execution/end/repeating.ts': shownByAttack(
      'a repeating job that is changed while it runs is done again as it was claimed',
      'settling a repeating job that was changed while it ran ends it',
      "['FinishJob', {}]",
    ),
    'src/server/jobs/held-children.ts': shownByAttack('neither released nor signed by the sweep'),
    'src/server/http/routes/changing-jobs.ts': shownByAttack('PATCH of a job that was changed ends it, and signs nothing'),
    'src/server/bedrock/jobs/wire-queue.ts': shownByAttack(
      'of a waiting job that was changed ends it',
      'of a repeating job that was changed while it ran ends it',
    ),
  },
  /** Of `WireQueue`, which seals what it has verified. */
  'sealed|amend|change': {
    'src/server/bedrock/jobs/wire-queue.ts': shownByAttack("['UpdateJob', {"),
    'src/server/bedrock/jobs/ending-jobs.ts': shownByAttack("['FinishJob', {}]", "['RetryJob', { delay: 0 }]"),
    'src/server/bedrock/jobs/creating-jobs.ts': shownByAttack('is not answered by a job that was changed'),
    'src/server/bedrock/jobs/handing-out.ts': shownByAttack('changed between its claim and its delivery'),
    'src/server/bedrock/commands/change-job.ts': shownByAttack("['UpdateJob', {", "['RequeueJobs', {"),
    'src/server/bedrock/commands/end-job.ts': shownByAttack("['FailJob', {"),
  },
  sealJob: {
    'src/app/dispatching/changing-holders.ts': shownByAttack('is not merged into a job that was changed', 'a debounced dispatch'),
    // What the program itself was given to dispatch.
    'src/app/workflows/workflow-sealing.ts': {
      file: 'test/execution/forged-results.test.ts',
      titles: ['a genuine one is handed on'],
    },
    'src/app/dispatching/joined-sending.ts': {
      file: 'test/transactions/charsets.test.ts',
      titles: ['hold exactly what is dispatched'],
    },
    'src/app/dispatching/sending.ts': { file: 'test/app/dispatch.test.ts', titles: ['signs what the worker will need'] },
    'src/server/jobs/creating.ts': { file: 'test/server/http/making-jobs.test.ts', titles: ['stores it, whether or not'] },
    'src/testing/run-inline.ts': { file: 'test/testing/run-inline.test.ts', titles: ['runInline'] },
  },
  sealEnvelope: {
    'src/envelope/reseal.ts': { file: 'test/envelope/reseal.test.ts', titles: ['what was verified is signed again'] },
    // Without a key.
    'src/envelope/wire.ts': {
      file: 'test/envelope/wire.test.ts',
      titles: ['is refused when a signed field was changed on the way'],
    },
    'src/testing/programs/envelopes.ts': {
      file: 'test/differential/sqlite.test.ts',
      titles: ['SQLite answers as the memory engine does'],
    },
    'src/testing/conformance/bench.ts': { file: 'test/backends/memory.test.ts', titles: ['memory'] },
  },
  stamp: {
    'src/envelope/envelope.ts': { file: 'test/envelope/envelope.test.ts', titles: ['opens as what was sealed'] },
    'src/app/dispatching/sealing.ts': { file: 'test/app/dispatch.test.ts', titles: ['signs what the worker will need'] },
  },
  sign: { 'src/envelope/envelope.ts': { file: 'test/envelope/envelope.test.ts', titles: ['opens as what was sealed'] } },
  sealResult: { 'src/execution/end/sealing.ts': results('a changed one is refused before the handler is called') },
  sealOnce: { 'src/execution/end/sealing.ts': results('a result under an idempotency key is not taken over when it was forged') },
  sealLateDependency: {
    'src/app/dispatching/sealing.ts': results('nor does it where the one that waits was told so, or was made ready'),
  },
  sealSchedule: { 'src/app/schedules/schedules.ts': schedules },
  signText: { 'src/envelope/result-seal.ts': kinds, 'src/envelope/schedule-seal.ts': schedules },
}

const words = ['reseal', 'sealJob', 'sealEnvelope', 'stamp', 'sealResult', 'sealOnce', 'sealSchedule', 'sealLateDependency'].join(
  '|',
)

const envelopes = String.raw`'[./\w-]*\/envelope(?:\/[\w-]+)*\.ts'`

/** Every mention counts, also in an import: a function that is renamed, passed on or kept in a variable is called as well. */
const mentions: Readonly<Record<string, RegExp>> = {
  ...Object.fromEntries(Object.keys(places).map((word) => [word, new RegExp(String.raw`(?<!function )\b${word}\b`)])),
  'sealed|amend|change': /(?<!store)(?:\.|\[')(?:sealed|amend|change)\b/,
  // Engines call other things a stamp.
  stamp: new RegExp(String.raw`\bimport \{[^}]*\bstamp\b[^}]*\} from ${envelopes}|(?<![\w.]|function )stamp\((?=stampOf)`),
  signText: /\??\.signText\b|\[['"`]signText['"`]\]/,
  sign: /\bkeys\??\.sign\b|\[['"`]sign['"`]\]/,
}

/** Where the words of `WireQueue` mean its methods. */
const homes: Readonly<Record<string, RegExp>> = { 'sealed|amend|change': /^src\/server\/bedrock\/(?!connections\/)/ }

describe.each(Object.keys(places))('who names %s', (word) => {
  const shown = places[word] as Readonly<Record<string, Shown>>

  test('is known, and nobody else does', () => {
    const found = naming(mentions[word] as RegExp).filter((file) => (homes[word] ?? notOfEngines).test(file))
    expect(found).toEqual(Object.keys(shown).sort())
  })

  test.each(Object.entries(shown))('%s: a test shows what it does to forged jobs', (_, { file, titles }) => {
    const text = readFileSync(join(root, file), 'utf8')
    for (const title of titles) expect(text).toContain(title)
  })
})

const notOfEngines = /^src\/(?!engines\/|queue\/)/

test('what signs is imported by its name, so that the lists above are complete', () => {
  const disguised = new RegExp(
    String.raw`\* (?:as \w+ )?from ${envelopes}|\bimport\(${envelopes}\)|\bexport \{[^}]*\b(?:${words})\b[^}]*\} from`,
  )
  expect(naming(disguised)).toEqual([])
  expect("import * as all from '../envelope/reseal.ts'").toMatch(disguised)
  expect("export { reseal } from './reseal.ts'").toMatch(disguised)
})

test.each([
  ['reseal', "import { reseal as again } from './reseal.ts'"],
  ['reseal', "import {\n  type Kept,\n  reseal,\n} from './reseal.ts'"],
  ['reseal', 'const make = deps.reseal'],
  ['sealed|amend|change', 'await wire.amend(job, {})'],
  ['sealed|amend|change', "await wire['sealed'](record, {})"],
  ['stamp', "import { stamp as made } from '../envelope/envelope.ts'"],
  ['signText', 'deps.keys?.signText(text, job)'],
  ['sign', 'keys?.sign(identity, payload)'],
])('%s is found in: %s', (word, source) => {
  expect(source).toMatch(mentions[word] as RegExp)
})

test('an envelope counts as verified only where it was', () => {
  expect(naming(/new OpenedEnvelope\(/)).toEqual(['src/envelope/envelope.ts'])
  expect(naming(/export (?:default )?(?:abstract )?class OpenedEnvelope|as Opened\b/)).toEqual([])
})

/** The files whose code, without its comments, matches. */
function naming(what: RegExp): readonly string[] {
  return sources(join(root, 'src'))
    .filter((file) => what.test(codeOf(readFileSync(file, 'utf8'))))
    .map((file) => relative(root, file))
    .sort()
}

function codeOf(text: string): string {
  return text
    .split('\n')
    .filter((line) => !/^\s*(?:\*|\/\/|\/\*)/.test(line))
    .join('\n')
}

function sources(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => join(folder, name))
}
