import { base } from '../address.ts'
import { Icon } from '../components/icons.tsx'
import { Menu } from '../components/menu.tsx'
import { say } from '../components/messages.tsx'
import { Text } from '../components/parts.tsx'
import { visible } from '../format.ts'
import { keptList } from '../kept-list.ts'

interface SavedFilter {
  readonly name: string
  readonly filter: string
}

const mostFilters = 50
const longestName = 60
const saved = keptList('filters', filterIn)

function filterIn(item: unknown): SavedFilter | null {
  const { name, filter } = (item ?? {}) as Partial<Record<keyof SavedFilter, unknown>>
  return typeof name === 'string' && typeof filter === 'string' ? { name, filter } : null
}

/** Filters under names of the viewer's choice, kept in the browser. The address of the page has the filter itself. */
export function SavedFilters({ filter }: { readonly filter: string }) {
  const known = saved.list.value ?? []
  const save = (event: Event) => {
    event.preventDefault()
    const form = event.currentTarget as HTMLFormElement
    const name = (form.elements.namedItem('name') as HTMLInputElement).value.trim()
    if (name === '') return
    const others = known.filter((each) => each.name !== name)
    if (others.length >= mostFilters) return say(`At most ${mostFilters} filters are kept: remove one first.`, 'refused')
    saved.keep([...others, { name, filter }].toSorted((a, b) => a.name.localeCompare(b.name)))
    form.reset()
  }
  return (
    <Menu label="Saved filters" icon="star">
      {known.length === 0 && <p class="muted">None yet. They are kept in this browser only.</p>}
      <ul class="saved-filters">
        {known.map((each) => (
          <li key={each.name}>
            <a href={`${base}/jobs?q=${encodeURIComponent(each.filter)}`} title={visible(each.filter)}>
              <Text>{each.name}</Text>
            </a>
            <button
              type="button"
              class="icon-button"
              aria-label={`Forget ${each.name}`}
              onClick={() => saved.keep(known.filter(({ name }) => name !== each.name))}
            >
              <Icon name="cross" />
            </button>
          </li>
        ))}
      </ul>
      {filter.trim() !== '' && (
        <form class="save-filter" onSubmit={save}>
          <input
            name="name"
            aria-label="Name of this filter"
            placeholder="Name of this filter"
            maxLength={longestName}
            required
          />
          <button type="submit">Save</button>
        </form>
      )}
    </Menu>
  )
}
