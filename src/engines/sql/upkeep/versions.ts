import type { Migration } from '../../../queue/upkeep/migration.ts'
import type { Column, Dated, Index, Table, TableName } from '../rows/tables.ts'

/** How an engine writes the statements that create and change its tables. The tables are written as `{jobs}`. */
export interface SchemaWriter {
  readonly tables: Readonly<Record<string, Table>>
  readonly indexes: readonly Index[]
  /** With these indexes, which may be part of the statement. */
  createTable(name: TableName, table: Table, indexes: readonly Index[]): readonly string[]
  dropTable(name: TableName): string
  addColumns(table: TableName, columns: readonly NamedColumn[]): readonly string[]
  dropColumns(table: TableName, columns: readonly string[]): readonly string[]
  createIndex(index: Index): string
  dropIndex(index: Index): string
}

export type NamedTable = readonly [name: TableName, table: Table]
export type NamedColumn = readonly [name: string, column: Column]

/** What an engine does in a version besides creating the tables, columns and indexes that are new in it. */
export interface OwnSteps {
  /** After new tables and columns, before new indexes of older tables. */
  readonly up?: readonly string[]
  /** Before everything else. */
  readonly down?: readonly string[]
  readonly compatibleFrom?: number
}

/** For each version, the oldest one that a program may know and still work with it. */
export const compatibility = [1, 1, 1, 1, 1, 1, 7, 7, 1, 7]

/** What an older version cannot keep. */
const losses: Readonly<Record<number, readonly string[]>> = { 4: ['DELETE FROM {schedules} WHERE definition IS NOT NULL'] }

/** A version of the schema: `since` says what is new in it. Versions that were released never change. */
export function versionOf(writer: SchemaWriter, version: number, own: OwnSteps = {}): Migration {
  const isNew = ({ since = 1 }: Dated) => since === version
  const named = tablesUpTo(writer.tables, version)
  const created = named.filter(([, table]) => isNew(table))
  const added = named
    .filter(([, table]) => !isNew(table))
    .map(([name, { columns }]) => [name, Object.entries(columns).filter(([, column]) => isNew(column))] as const)
    .filter(([, columns]) => columns.length > 0)
  const indexes = writer.indexes.filter(isNew)
  const ofOlder = indexes.filter(({ table }) => !created.some(([name]) => name === table))
  return {
    up: [
      ...added.flatMap(([name, columns]) => writer.addColumns(name, columns)),
      ...created.flatMap(([name, table]) =>
        writer.createTable(
          name,
          table,
          indexes.filter((index) => index.table === name),
        ),
      ),
      ...(own.up ?? []),
      ...ofOlder.map((index) => writer.createIndex(index)),
    ],
    down: [
      ...(own.down ?? []),
      ...(losses[version] ?? []),
      ...created.map(([name]) => writer.dropTable(name)),
      ...ofOlder.map((index) => writer.dropIndex(index)),
      ...added.flatMap(([name, columns]) =>
        writer.dropColumns(
          name,
          columns.map(([column]) => column),
        ),
      ),
    ],
    compatibleFrom: own.compatibleFrom ?? (compatibility[version - 1] as number),
  }
}

/** All versions, oldest first. `own` has the engine's own steps by version. */
export function versionsOf(writer: SchemaWriter, own: Readonly<Record<number, OwnSteps>>): readonly Migration[] {
  return compatibility.map((_, index) => versionOf(writer, index + 1, own[index + 1]))
}

/** The tables and columns that a version has. */
export function tablesUpTo(tables: Readonly<Record<string, Table>>, version: number): readonly NamedTable[] {
  const has = ({ since = 1 }: Dated) => since <= version
  return Object.entries(tables)
    .filter(([, table]) => has(table))
    .map(([name, table]) => {
      const columns = Object.fromEntries(Object.entries(table.columns).filter(([, column]) => has(column)))
      return [name as TableName, { ...table, columns }]
    })
}

/** A column as all engines declare it, with the engine's name for its type. */
export function declared(name: string, { nullable, fallback }: Column, type: string): string {
  const given = fallback === undefined ? '' : ` DEFAULT ${typeof fallback === 'string' ? `'${fallback}'` : fallback}`
  return `${name} ${type}${nullable === true ? '' : ' NOT NULL'}${given}`
}
