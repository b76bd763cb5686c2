import { type Signal, signal } from '@preact/signals'
import { base } from './address.ts'

/**
 * A list in the browser's storage, separate for each dashboard of an origin. What is not readable there, such as the list of
 * another version, counts as absent.
 */
export function keptList<Item>(name: string, read: (item: unknown) => Item | null) {
  const key = `treadle-${name}${base}`
  const list: Signal<readonly Item[] | null> = signal(readList(localStorage.getItem(key), read))
  return {
    list,
    /** Null forgets it. */
    keep(items: readonly Item[] | null): void {
      list.value = items
      if (items === null) localStorage.removeItem(key)
      else localStorage.setItem(key, JSON.stringify(items))
    },
  }
}

function readList<Item>(text: string | null, read: (item: unknown) => Item | null): readonly Item[] | null {
  if (text === null) return null
  try {
    const items: unknown = JSON.parse(text)
    return Array.isArray(items) ? items.flatMap((item) => read(item) ?? []) : null
  } catch {
    return null
  }
}
