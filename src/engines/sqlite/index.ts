export { openSqlite, type SqliteOptions } from './backend.ts'
export type { SqliteDriverName } from './driver-names.ts'
export { openSqliteUpkeep } from './upkeep.ts'
