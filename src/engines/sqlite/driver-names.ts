/** A driver by which a SQLite file can be opened. Each brings a copy of SQLite. */
export type SqliteDriverName = 'node:sqlite' | '@photostructure/sqlite' | 'better-sqlite3'
