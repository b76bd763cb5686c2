import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { errorCodes } from '../src/core/errors.ts'
import { contractCalls, widthOf } from './architecture/contract-width.ts'
import { homeProblems } from './architecture/homes.ts'
import {
  cycleProblems,
  engineProblems,
  layerProblems,
  nameProblems,
  staleCodes,
  unexplainedCodes,
  unusedCodes,
} from './architecture/rules.ts'
import { parseSource, pathsUnder, readSources } from './architecture/source.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const sources = readSources(`${root}src`)
const none: readonly string[] = []

describe('the layers', () => {
  test('imports point one way only', () => {
    expect(layerProblems(sources)).toEqual(none)
  })

  test('an import from a layer above, beside or outside is found', () => {
    const found = layerProblems([
      parseSource('core/time/clock.ts', `import type { Job } from '../../definition/job.ts'`),
      parseSource('worker/loop.ts', `import { pause } from '../core/clock.ts'\nexport * from '../cli/main.ts'`),
      parseSource('testing/bench.ts', `const main = await import('../cli/main.ts')`),
      parseSource('cli/main.ts', `import { manualClock } from '../testing/manual-clock.ts'\nimport '../index.ts'`),
      parseSource('index.ts', `export { manualClock } from './testing/manual-clock.ts'\nexport { app } from './app/app.ts'`),
      parseSource('stray/file.ts', ''),
    ])
    expect(found.map((problem) => problem.split(': ')[0])).toEqual([
      'core/time/clock.ts:1 imports definition/job.ts',
      'worker/loop.ts:2 imports cli/main.ts',
      'testing/bench.ts:1 imports cli/main.ts',
      'cli/main.ts:1 imports testing/manual-clock.ts',
      'index.ts:1 imports testing/manual-clock.ts',
      'stray/file.ts lies in no layer',
    ])
  })
})

describe('engines', () => {
  test('build on what they share with their kind, and not on each other', () => {
    expect(engineProblems(sources)).toEqual(none)
  })

  test('an engine that imports another one is found', () => {
    const found = engineProblems([
      parseSource(
        'engines/redis/backend.ts',
        `import { Lanes } from '../sql/lanes/lanes.ts'\nimport { time } from '../servers/time.ts'`,
      ),
      parseSource('engines/postgres/index.ts', `import '../sql/backend.ts'`),
    ])
    expect(found).toEqual(['engines/redis/backend.ts:1 imports engines/sql/lanes/lanes.ts: redis does not build on sql'])
  })
})

describe('the contract of a backend', () => {
  const calls = contractCalls(sources)
  /** What every engine has that keeps its jobs; the other parts are optional, and each has one kind of caller. */
  const core = ['QueueBackend', 'JobStore', 'ScheduleStore', 'WorkerStore', 'Coordination']

  test('has no more calls than it is known for: what is a filter or an option is no call of its own', () => {
    expect(Object.fromEntries(Object.entries(calls).map(([part, names]) => [part, names.length]))).toEqual({
      QueueBackend: 8,
      JobStore: 15,
      ScheduleStore: 10,
      WorkerStore: 3,
      Coordination: 3,
      JobNumbers: 3,
      LogStore: 2,
      RollupStore: 2,
      EventStore: 5,
      Transactions: 2,
      Backlog: 1,
      PatternClaims: 1,
      Upkeep: 1,
      SchemaUpkeep: 3,
      Transfer: 9,
    })
  })

  test('is as wide as the page about the architecture says', () => {
    const inCore = widthOf(Object.fromEntries(core.map((part) => [part, calls[part] ?? []])))
    const page = readFileSync(`${root}docs/architecture.md`, 'utf8')
    expect(page).toContain(`${inCore} calls`)
    expect(page).toContain(`${widthOf(calls) - inCore} more`)
  })

  test('a call of a part of a part is found', () => {
    const found = contractCalls([
      parseSource(
        'queue/contract/contract.ts',
        `export interface QueueBackend { send(jobs: Jobs): Promise<Answer>; readonly store?: Store; readonly kind: string }
         export interface Store { get(): void; list(): void; readonly logs: Logs }
         export interface Answer { read(): void }`,
      ),
      parseSource('queue/contract/logs.ts', 'export interface Logs { append(): void }\nexport interface Jobs { at(): void }'),
    ])
    expect(found).toEqual({ QueueBackend: ['send'], Store: ['get', 'list'], Logs: ['append'] })
  })
})

describe('circles of imports', () => {
  test('there is none, also not of types alone', () => {
    expect(cycleProblems(sources)).toEqual(none)
  })

  test('a circle is found through types, re-exports and several files', () => {
    const found = cycleProblems([
      parseSource('core/a.ts', `import type { B } from './b.ts'\nimport { d } from './d.ts'`),
      parseSource('core/b.ts', `export * from './c.ts'\nimport { d } from './d.ts'`),
      parseSource('core/c.ts', `export type C = import('./a.ts').A`),
      parseSource('core/d.ts', ''),
      parseSource('core/e.ts', `import './e.ts'`),
    ])
    expect(found).toEqual(['core/a.ts -> core/b.ts -> core/c.ts -> core/a.ts', 'core/e.ts -> core/e.ts'])
  })
})

describe('homes', () => {
  test('time, chance, the process, the console and each library are used only where they live', () => {
    expect(homeProblems(sources)).toEqual(none)
  })

  test.each([
    ['const at = Date.now()'],
    ['const at = new Date()'],
    ['const at = new Date'],
    ['const at = Date()'],
    ['const clock = { now: Date.now }'],
    ['const at = globalThis.Date.now()'],
    ['const at = Math.random()'],
    ['setTimeout(() => {}, 1)'],
    ['globalThis.setTimeout(() => {}, 1)'],
    ['const wait = { setInterval }'],
    ['setImmediate(() => {})'],
    ['const at = performance.now()'],
    ['const signal = AbortSignal.timeout(1)'],
    [`import { setTimeout } from 'node:timers/promises'`],
    ['const id = crypto.randomUUID()'],
    [`import { createHmac, randomBytes as bytes } from 'node:crypto'`],
    [`import * as crypto from 'node:crypto'`],
    ['const home = process.env.HOME'],
    [`import process from 'node:process'`],
    ['type Platform = typeof process.platform'],
    ['console.log(1)'],
    ['const log = console'],
    [`const { DatabaseSync } = await import('node:sqlite')`],
    [`const driver = require('better-sqlite3')`],
    [`const driver = createRequire(import.meta.url).resolve('@photostructure/sqlite')`],
    [`import { Worker } from 'node:worker_threads'`],
    [`import { spawn } from 'node:child_process'`],
    [`import { request } from 'undici'`],
    [`import { parse } from 'ipaddr.js'`],
    [`const answer = await fetch('http://127.0.0.1')`],
    [`import type { Cron } from 'croner'`],
    [`import { Command } from 'commander'`],
    [`import Table from 'cli-table3'`],
    [`import colors from 'picocolors'`],
    [`import { createJiti } from 'jiti'`],
  ])('away from its home is found: %s', (text) => {
    expect(homeProblems([parseSource('execution/attempt.ts', text)])).toHaveLength(1)
  })

  test.each([
    ['core/time/clock.ts', 'const at = Date.now() + Math.random()\nsetTimeout(() => {}, 1)'],
    ['testing/manual-clock.ts', 'setImmediate(() => {})'],
    ['core/id.ts', `import { randomFillSync } from 'node:crypto'`],
    ['envelope/key-file.ts', `import { randomBytes } from 'node:crypto'`],
    ['worker/loop/signals.ts', `process.on('SIGTERM', stop)`],
    ['cli/work.ts', 'console.log(process.argv)'],
    ['engines/sqlite/file/driver.ts', `const driver = await import('node:sqlite')`],
    ['handlers/url.ts', `import { request } from 'undici'`],
    ['execution/attempt.ts', `import { createHmac, timingSafeEqual } from 'node:crypto'`],
    ['execution/attempt.ts', 'const text = new Date(ms).toISOString()\nconst is = value instanceof Date\nlet at: Date'],
    ['execution/attempt.ts', 'function stop(process: Child) { process.kill() }'],
    ['execution/attempt.ts', 'const crypto = open()\ncrypto.close()\nqueue.process(1)\nconst log = { console: 1 }.console'],
    ['execution/attempt.ts', 'interface Options { process: string }\ntype Signal = NodeJS.Signals'],
  ])('at home, or only of the same name: %s %j', (path, text) => {
    expect(homeProblems([parseSource(path, text)])).toEqual(none)
  })

  test('a local name hides a global one only inside of its own scope', () => {
    const text = 'function stop(process: Child) { process.kill() }\nprocess.exit()'
    expect(homeProblems([parseSource('execution/attempt.ts', text)])).toEqual([
      expect.stringContaining('attempt.ts:2 uses process.exit'),
    ])
  })
})

describe('names', () => {
  test('no file and no folder is called utils, helpers, types, common or misc', () => {
    expect(nameProblems([...pathsUnder(`${root}src`), ...pathsUnder(`${root}test`)])).toEqual(none)
  })

  test('a vague name is found in a file and in a folder, and only as the whole name', () => {
    const found = nameProblems([
      'core/utils.ts',
      'helpers/text.ts',
      'core/types.test.ts',
      'core/common-words.ts',
      'core/time/clock.ts',
    ])
    expect(found.map((problem) => problem.split(':')[0])).toEqual(['core/utils.ts', 'helpers/text.ts', 'core/types.test.ts'])
  })
})

describe('error codes', () => {
  const page = existsSync(`${root}docs/errors.md`) ? readFileSync(`${root}docs/errors.md`, 'utf8') : ''

  test('the list is alphabetical and has no code twice', () => {
    expect(errorCodes).toEqual([...new Set(errorCodes)].sort())
  })

  test('each is raised somewhere', () => {
    expect(unusedCodes(errorCodes, sources)).toEqual(none)
  })

  test('each is explained in docs/errors.md, and no other', () => {
    expect({ missing: unexplainedCodes(errorCodes, page), stale: staleCodes(errorCodes, page) }).toEqual({
      missing: none,
      stale: none,
    })
  })

  test('a code that is only compared or listed counts as never raised', () => {
    const found = unusedCodes(
      ['LOST', 'OPEN', 'SHUT', 'WORN'],
      [
        parseSource('core/errors.ts', `export const errorCodes = ['LOST', 'OPEN', 'SHUT', 'WORN'] as const`),
        parseSource('app/app.ts', `if (error.code === 'LOST') throw new TreadleError(late ? 'OPEN' : 'WORN', 'Close it first')`),
        parseSource('app/state.ts', `type Code = 'SHUT'\nswitch (code) { case 'SHUT': stop() }`),
      ],
    )
    expect(found).toEqual(['LOST', 'SHUT'])
  })

  test('a code that the page only mentions counts as not explained, and one that is gone as stale', () => {
    const text = '## `OPEN`\nSee LOST.\n\n| code | what |\n|---|---|\n| `SHUT` | closed |\n\n### WORN_OUT\n\n- **OLD**: gone'
    expect(unexplainedCodes(['LOST', 'OPEN', 'SHUT', 'WORN_OUT'], text)).toEqual(['LOST'])
    expect(staleCodes(['LOST', 'OPEN', 'SHUT', 'WORN_OUT'], text)).toEqual(['OLD'])
  })
})
