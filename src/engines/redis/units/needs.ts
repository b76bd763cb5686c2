/** One stored item: a field of a hash, a text under its own key, part of a sorted set, or a list. */
export type Need =
  | { readonly kind: 'field'; readonly table: string; readonly field: string }
  | { readonly kind: 'text'; readonly key: string }
  | { readonly kind: 'range'; readonly key: string; readonly start: number; readonly stop: number }
  | { readonly kind: 'list'; readonly key: string }

export function field(table: string, name: string): Need {
  return { kind: 'field', table, field: name }
}

export function range(key: string, start = 0, stop = -1): Need {
  return { kind: 'range', key, start, stop }
}

export function list(key: string): Need {
  return { kind: 'list', key }
}

/** What is always loaded together for a job. The jobs that wait for it are read when it ends, in whatever way. */
export function jobNeeds(id: string): readonly Need[] {
  return [field('h', id), field('x', id), field('p', id), field('ok', id)]
}

export function nameOf(need: Need): string {
  switch (need.kind) {
    case 'field':
      return `${need.table}\0${need.field}`
    case 'text':
      return `\0${need.key}`
    case 'range':
      return `\0${need.key}\0${need.start}\0${need.stop}`
    case 'list':
      return `\0\0${need.key}`
  }
}
