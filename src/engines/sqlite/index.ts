export { openSqlite, type SqliteOptions } from './backend.ts'
export { openSqliteUpkeep } from './upkeep.ts'
