import { TreadleError } from '../../../core/errors.ts'

/** What precedes a table's name: a schema with its dot, or a prefix. */
export type TablePlace = string

/** The hint, after a table's name, that tells an engine which index to use. */
export type IndexHint = (index: string) => string

/**
 * Replaces `{jobs}` in a statement with the table's name, or `{jobs by PRIMARY}` where an engine might choose a worse index
 * itself. Statements are few and used often, so each is translated once.
 */
export class TableNames {
  readonly place: TablePlace
  readonly #hint: IndexHint
  readonly #translated = new Map<string, string>()

  constructor(place: TablePlace, hint: IndexHint = () => '') {
    this.place = place
    this.#hint = hint
  }

  in(sql: string): string {
    const known = this.#translated.get(sql)
    if (known !== undefined) return known
    const text = sql.replaceAll(/\{(\w+)(?: by (\w+))?\}/g, (_, name: string, index?: string) => {
      return index === undefined ? this.of(name) : `${this.of(name)}${this.#hint(index)}`
    })
    this.#translated.set(sql, text)
    return text
  }

  of(name: string): string {
    return `${this.place}${name}`
  }
}

/** A schema or prefix goes into statements unquoted, so it must not contain anything that needs quoting. */
export function checkedName(name: string, what: string): string {
  if (/^[a-z_][a-z0-9_]{0,39}$/.test(name)) return name
  const message = `The ${what} ${JSON.stringify(name)} is not a name of up to 40 small letters, digits and underscores`
  throw new TreadleError('CONFIG_INVALID', message)
}
