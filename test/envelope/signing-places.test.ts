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
}

const calls: Readonly<Record<string, RegExp>> = {
  reseal: /(?<!function )\breseal\(/,
  'sealed|amend|change': /\b(?:jobs|this)\.(?:sealed|amend|change)\(/,
  sealJob: /(?<!function )\bsealJob\(/,
  sealEnvelope: /(?<!function )\bsealEnvelope\(/,
  stamp: /(?<![\w.]|function )stamp\(/,
  sign: /\.sign\(/,
}

describe.each(Object.keys(places))('who calls %s', (word) => {
  const shown = places[word] as Readonly<Record<string, Shown>>

  test('is known, and nobody else does', () => {
    const found = callers(calls[word] as RegExp).filter((file) => !/^src\/(engines|queue)\//.test(file))
    expect(found).toEqual(Object.keys(shown).sort())
  })

  test.each(Object.entries(shown))('%s: a test shows what it does to forged jobs', (_, { file, titles }) => {
    const text = readFileSync(join(root, file), 'utf8')
    for (const title of titles) expect(text).toContain(title)
  })
})

test('an envelope counts as verified only where it was', () => {
  expect(callers(/new OpenedEnvelope\(/)).toEqual(['src/envelope/envelope.ts'])
  expect(callers(/export (?:default )?(?:abstract )?class OpenedEnvelope|as Opened\b/)).toEqual([])
})

function callers(call: RegExp): readonly string[] {
  return sources(join(root, 'src'))
    .filter((file) =>
      readFileSync(file, 'utf8')
        .split('\n')
        .some((line) => !/^\s*(?:\*|\/\/|\/\*)/.test(line) && call.test(line)),
    )
    .map((file) => relative(root, file))
    .sort()
}

function sources(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => join(folder, name))
}
