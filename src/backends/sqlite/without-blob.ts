/** A column for SQLite's JSON, which refuses a whole statement because of one BLOB that somebody has written. */
export function withoutBlob(column: string): string {
  return `CASE typeof(${column}) WHEN 'blob' THEN CAST(${column} AS TEXT) ELSE ${column} END`
}
