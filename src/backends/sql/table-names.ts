import { TreadleError } from '../../core/errors.ts'

/** What stands before a table's name: a schema with its dot, or a prefix. */
export type TablePlace = string

/** Puts the names of tables where a statement says `{jobs}`. Statements are few and said often, so each is translated once. */
export class TableNames {
  readonly place: TablePlace
  readonly #translated = new Map<string, string>()

  constructor(place: TablePlace) {
    this.place = place
  }

  in(sql: string): string {
    const known = this.#translated.get(sql)
    if (known !== undefined) return known
    const text = sql.replaceAll(/\{(\w+)\}/g, (_, name: string) => this.of(name))
    this.#translated.set(sql, text)
    return text
  }

  of(name: string): string {
    return `${this.place}${name}`
  }
}

/** A schema or a prefix goes into statements as it is, so it is made of nothing that would have to be quoted. */
export function checkedName(name: string, what: string): string {
  if (/^[a-z_][a-z0-9_]{0,39}$/.test(name)) return name
  const message = `The ${what} ${JSON.stringify(name)} is not a name of up to 40 small letters, digits and underscores`
  throw new TreadleError('CONFIG_INVALID', message)
}
