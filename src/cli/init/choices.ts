import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { canAsk, select } from '../prompt.ts'
import { type Choices, type Database, databases, type Framework, frameworks, type Language, languages } from './options.ts'
import { isFresh, type Manifest, readManifest, usesPackage } from './package-json.ts'

export interface InitOptions extends Partial<Choices> {
  readonly force?: boolean
  readonly yes?: boolean
}

/** Uses the flags. For the rest, asks a person at a terminal, or takes what the folder suggests in a script. */
export async function choicesFor(root: string, options: InitOptions): Promise<Choices> {
  const suggested = suggestedFor(root)
  const { language, database, framework } = options
  if (options.yes === true || !canAsk()) {
    return {
      language: language ?? suggested.language,
      database: database ?? suggested.database,
      framework: framework ?? suggested.framework,
    }
  }
  return {
    language: language ?? (await select('Language', languages, languageTitles, suggested.language)),
    database: database ?? (await select('Database', databases, databaseTitles, suggested.database)),
    framework: framework ?? (await select('Web framework', frameworks, frameworkTitles, suggested.framework)),
  }
}

const languageTitles: Readonly<Record<Language, string>> = {
  typescript: 'TypeScript',
  javascript: 'JavaScript, ES modules',
  commonjs: 'JavaScript, CommonJS',
}
const databaseTitles: Readonly<Record<Database, string>> = {
  sqlite: 'SQLite, a file in this folder; nothing to install',
  postgres: 'PostgreSQL',
  mysql: 'MySQL',
  mariadb: 'MariaDB',
}
const frameworkTitles: Readonly<Record<Framework, string>> = {
  none: 'none, a plain Node program',
  express: 'Express',
  fastify: 'Fastify',
  hono: 'Hono',
}

function suggestedFor(root: string): Choices {
  const manifest = readManifest(root)
  const uses = (name: string) => usesPackage(manifest, name)
  return {
    language: suggestedLanguage(root, manifest),
    database: uses('pg') ? 'postgres' : uses('mysql2') ? 'mysql' : 'sqlite',
    framework: frameworks.find((framework) => uses(framework)) ?? 'none',
  }
}

/** TypeScript, unless the folder holds a project written in JavaScript. */
function suggestedLanguage(root: string, manifest: Manifest | null): Language {
  if (manifest === null || isFresh(root, manifest)) return 'typescript'
  if (existsSync(join(root, 'tsconfig.json')) || usesPackage(manifest, 'typescript')) return 'typescript'
  return manifest.type === 'module' ? 'javascript' : 'commonjs'
}
