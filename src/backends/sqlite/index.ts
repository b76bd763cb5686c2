export { openSqlite, type SqliteOptions } from './backend.ts'
