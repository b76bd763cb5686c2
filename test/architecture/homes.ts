import type { Import, Source } from './source.ts'

/** Something that only some files may use. A home that ends in `/` is a folder, one that ends in `*` a beginning, else a file. */
export interface Home {
  readonly what: string
  readonly homes: readonly string[]
  readonly globals?: readonly string[]
  readonly modules?: readonly string[]
  /** Of these modules, only these names are bound to the home; importing all at once counts as well. */
  readonly names?: readonly string[]
}

export const homes: readonly Home[] = [
  {
    what: 'time and chance',
    // The page of the dashboard runs in a browser, which has its own.
    homes: ['core/time/clock.ts', 'server/dashboard/page/', 'testing/'],
    globals: [
      'Date.now',
      'Date()',
      'new Date()',
      'Math.random',
      'setTimeout',
      'setInterval',
      'setImmediate',
      'performance',
      'AbortSignal.timeout',
    ],
    modules: ['node:timers', 'node:timers/promises', 'node:perf_hooks'],
  },
  {
    what: 'secret randomness',
    // `digest.ts` imports the module as a whole, because older Nodes lack the function that it calls.
    homes: ['core/id.ts', 'core/web-token.ts', 'core/text/digest.ts', 'envelope/key*', 'envelope/encryption.ts'],
    globals: ['crypto'],
    modules: ['node:crypto'],
    names: [
      'randomBytes',
      'randomFill',
      'randomFillSync',
      'randomInt',
      'randomUUID',
      'getRandomValues',
      'generateKey',
      'generateKeySync',
      'generateKeyPair',
      'generateKeyPairSync',
      'webcrypto',
    ],
  },
  {
    what: 'the process',
    homes: [
      'core/process/environment.ts',
      'core/process/machine.ts',
      'core/process/process-time.ts',
      'worker/loop/signals.ts',
      'isolation/',
      'manager/module-entry.ts',
      'server/bedrock/query/query-process.ts',
      'cli/',
    ],
    globals: ['process'],
    modules: ['node:process'],
  },
  { what: 'the machine', homes: ['core/process/environment.ts', 'core/process/machine.ts'], modules: ['node:os'] },
  {
    what: 'the console',
    homes: ['core/logger.ts', 'manager/module-entry.ts', 'cli/'],
    globals: ['console'],
    modules: ['node:console'],
  },
  {
    what: 'a SQLite driver',
    homes: ['engines/sqlite/'],
    modules: ['node:sqlite', '@photostructure/sqlite', 'better-sqlite3'],
  },
  { what: 'a Redis driver', homes: ['engines/redis/'], modules: ['ioredis', 'redis'] },
  { what: 'the Service Bus SDK', homes: ['engines/service-bus/'], modules: ['@azure/service-bus'] },
  { what: 'OpenTelemetry', homes: ['telemetry/otel/'], modules: ['@opentelemetry/api'] },
  { what: 'worker threads', homes: ['engines/sqlite/', 'isolation/'], modules: ['node:worker_threads'] },
  {
    what: 'child processes',
    homes: ['handlers/', 'isolation/', 'server/bedrock/query/', 'cli/'],
    modules: ['node:child_process'],
  },
  {
    what: 'outgoing requests',
    homes: ['handlers/', 'client/', 'app/alerts/webhook.ts', 'server/dashboard/page/'],
    globals: ['fetch'],
    modules: ['undici', 'ipaddr.js'],
  },
  { what: 'another cron library', homes: ['the tests and the benchmark'], modules: ['croner', 'cron-parser'] },
  { what: 'the terminal', homes: ['cli/'], modules: ['commander', 'cli-table3', 'picocolors'] },
  { what: 'loading of TypeScript files', homes: ['cli/', 'app/'], modules: ['jiti'] },
]

export function homeProblems(sources: readonly Source[], rules: readonly Home[] = homes): readonly string[] {
  return rules.flatMap((rule) =>
    sources
      .filter(({ path }) => !isAtHome(path, rule))
      .flatMap((source) => usesOf(rule, source).map((use) => `${use}: ${rule.what} belongs to ${rule.homes.join(', ')}`)),
  )
}

function isAtHome(path: string, { homes }: Home): boolean {
  return homes.some((home) => (/[/*]$/.test(home) ? path.startsWith(home.replace('*', '')) : path === home))
}

function usesOf(rule: Home, { path, globals, imports }: Source): readonly string[] {
  return [
    ...globals
      .filter((use) => (rule.globals ?? []).some((name) => isUseOf(use.name, name)))
      .map((use) => `${path}:${use.line} uses ${use.name}`),
    ...imports
      .filter((found) => bindsToHome(rule, found))
      .map((found) => `${path}:${found.line} imports ${found.names.join(', ')} from ${found.target}`),
  ]
}

function isUseOf(use: string, name: string): boolean {
  return use === name || use === `${name}()` || use.startsWith(`${name}.`)
}

function bindsToHome({ modules = [], names }: Home, found: Import): boolean {
  if (!modules.includes(found.target)) return false
  return names === undefined || found.names.some((name) => name === '*' || names.includes(name))
}
