import { existsSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { messageOf, TreadleError } from '../../core/errors.ts'
import { version } from '../../core/version.ts'
import type { Choices, Database, Framework, Language } from './options.ts'

/** The part of a package.json that is read or changed. */
export interface Manifest {
  readonly name?: string
  readonly private?: boolean
  readonly type?: string
  readonly scripts?: Readonly<Record<string, string>>
  readonly dependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
}

/** Null if there is none. */
export function readManifest(root: string): Manifest | null {
  const path = join(root, 'package.json')
  if (!existsSync(path)) return null
  try {
    const manifest: unknown = JSON.parse(readFileSync(path, 'utf8'))
    if (typeof manifest === 'object' && manifest !== null && !Array.isArray(manifest)) return manifest
    throw new Error('it does not hold an object')
  } catch (thrown) {
    throw new TreadleError('CONFIG_INVALID', `${path} cannot be read: ${messageOf(thrown)}`, { cause: thrown })
  }
}

/** The package.json with the scripts and dependencies of these choices added. Existing entries are kept. */
export function mergedManifest(root: string, choices: Choices, entry: string): Manifest {
  const existing = readManifest(root)
  const base: Manifest = existing ?? { name: packageName(root), private: true }
  const type = existing === null || isFresh(existing) ? { type: moduleType(choices.language) } : {}
  const { scripts = {}, dependencies = {}, devDependencies = {} } = base
  const known = { ...dependencies, ...devDependencies }
  const missing = (wanted: Readonly<Record<string, string>>) =>
    Object.fromEntries(Object.entries(wanted).filter(([name]) => !(name in known)))
  const development = { ...devDependencies, ...missing(developmentDependencies(choices)) }
  const written = Object.entries(scripts).filter(([, script]) => !isPlaceholder(script))
  return {
    ...base,
    ...type,
    scripts: { ...scriptsFor(choices.language, entry), ...Object.fromEntries(written) },
    dependencies: { ...dependencies, ...missing(runtimeDependencies(choices)) },
    ...(Object.keys(development).length === 0 ? {} : { devDependencies: development }),
  }
}

/** Whether it contains only what `npm install` or `npm init` writes into an empty folder. */
export function isFresh(manifest: Manifest): boolean {
  const installed = Object.keys({ ...manifest.dependencies, ...manifest.devDependencies })
  const scripts = Object.entries(manifest.scripts ?? {})
  return installed.every((name) => name === 'treadle') && scripts.every(([, script]) => isPlaceholder(script))
}

/** Whether it is the test script that `npm init` writes. */
function isPlaceholder(script: string | undefined): boolean {
  return script?.includes('no test specified') === true
}

function moduleType(language: Language): string {
  return language === 'commonjs' ? 'commonjs' : 'module'
}

/** npm requires lower case and no spaces. */
function packageName(root: string): string {
  const name = basename(root)
    .toLowerCase()
    .replaceAll(/[^a-z0-9._-]+/g, '-')
    .replace(/^[._-]+/, '')
  return name === '' ? 'app' : name
}

function scriptsFor(language: Language, entry: string): Readonly<Record<string, string>> {
  const watched = { work: 'treadle work', dashboard: 'treadle serve --no-tcp', status: 'treadle status' }
  if (language !== 'typescript') return { start: `node ${entry}`, test: 'node --test', ...watched }
  return {
    start: `tsx ${entry}`,
    // The shell expands the pattern, because Node 20 does not look for TypeScript tests by itself.
    test: 'node --import tsx --test test/*.test.ts',
    typecheck: 'tsc --noEmit',
    ...watched,
  }
}

const drivers: Readonly<Record<Database, Readonly<Record<string, string>>>> = {
  sqlite: {},
  postgres: { pg: '^8.11.0' },
  mysql: { mysql2: '^3.9.0' },
  mariadb: { mysql2: '^3.9.0' },
}

const frameworkPackages: Readonly<Record<Framework, Readonly<Record<string, string>>>> = {
  none: {},
  express: { express: '^5.1.0' },
  fastify: { fastify: '^5.0.0' },
  hono: { hono: '^4.6.0', '@hono/node-server': '^2.0.0' },
}

function runtimeDependencies({ database, framework }: Choices): Readonly<Record<string, string>> {
  return { ...frameworkPackages[framework], ...drivers[database], treadle: `^${version}` }
}

function developmentDependencies({ language, framework }: Choices): Readonly<Record<string, string>> {
  if (language !== 'typescript') return {}
  const types = framework === 'express' ? { '@types/express': '^5.0.0' } : {}
  return { ...types, '@types/node': '^20.19.0', tsx: '^4.19.0', typescript: '^6.0.0' }
}
