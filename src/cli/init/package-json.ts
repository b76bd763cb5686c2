import { existsSync, readdirSync, readFileSync } from 'node:fs'
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

/** The package.json with the scripts and dependencies of these choices added. Existing entries are kept. `entry` is null if there is no program to start. */
export function mergedManifest(root: string, choices: Choices, entry: string | null): Manifest {
  const existing = readManifest(root)
  const base: Manifest = existing ?? { name: packageName(root), private: true }
  const type = existing === null || isFresh(root, existing) ? { type: moduleType(choices.language) } : {}
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

/** The command that runs a script: by its name, or as it is where the project has a script of that name that does something else. */
export function commandOf(script: 'start' | 'test', root: string, { language }: Choices, entry: string): string {
  const line = scriptsFor(language, entry)[script] as string
  if (readManifest(root)?.scripts?.[script] === line) return `npm ${script}`
  return line.startsWith('node ') ? line : `npx ${line}`
}

export function usesPackage(manifest: Manifest | null, name: string): boolean {
  return manifest !== null && name in { ...manifest.dependencies, ...manifest.devDependencies }
}

/** Whether the project is still empty: only `npm init` and `npm install` have written to its folder, whatever was installed. */
export function isFresh(root: string, manifest: Manifest): boolean {
  const entries = readdirSync(root, { withFileTypes: true })
  const scripts = Object.values(manifest.scripts ?? {})
  return scripts.every(isPlaceholder) && !entries.some((entry) => isSource(entry.name, entry.isDirectory()))
}

function isSource(name: string, isFolder: boolean): boolean {
  if (isFolder) return !name.startsWith('.') && name !== 'node_modules'
  return name === 'tsconfig.json' || /\.[cm]?[jt]sx?$/.test(name)
}

/** Whether it is the test script that `npm init` writes. */
function isPlaceholder(script: string): boolean {
  return script.includes('no test specified')
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

function scriptsFor(language: Language, entry: string | null): Readonly<Record<string, string>> {
  const watched = { work: 'treadle work', dashboard: 'treadle serve --no-tcp', status: 'treadle status' }
  const start = entry === null ? {} : { start: `${language === 'typescript' ? 'tsx' : 'node'} ${entry}` }
  if (language !== 'typescript') return { ...start, test: 'node --test', ...watched }
  return {
    ...start,
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

/** Packages that bring no types of their own. */
function developmentDependencies({ language, database, framework }: Choices): Readonly<Record<string, string>> {
  if (language !== 'typescript') return {}
  const ofDriver = database === 'postgres' ? { '@types/pg': '^8.11.0' } : {}
  const ofFramework = framework === 'express' ? { '@types/express': '^5.0.0' } : {}
  return { ...ofFramework, ...ofDriver, '@types/node': '^20.19.0', tsx: '^4.19.0', typescript: '^6.0.0' }
}
