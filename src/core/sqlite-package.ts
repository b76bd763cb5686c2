import { isBuiltin } from 'node:module'

/** What brings SQLite to a Node that has none of its own. Its later versions are for newer Nodes alone, which need none of them. */
export const sqlitePackage = {
  name: '@photostructure/sqlite',
  range: '^1.2.1',
  install: 'npm install @photostructure/sqlite@1',
} as const

/** Since Node 22.13. Known without loading it, which prints a warning in some versions. */
export function hasBuiltInSqlite(): boolean {
  return isBuiltin('node:sqlite')
}
