import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { filterKeys, filterStates, parseFilter, type Term, writeFilter, writeTerm } from '../../shared/filter.ts'
import type { Counts } from '../../shared/views/job.ts'
import { base, go } from '../address.ts'
import { Icon } from '../components/icons.tsx'
import { Text } from '../components/parts.tsx'
import { count, exact } from '../format.ts'

const tabs = ['ready', 'scheduled', 'blocked', 'running', 'succeeded', 'dead', 'cancelled', 'skipped'] as const

export function FilterBar({ filter }: { readonly filter: string }) {
  const text = useSignal(filter)
  useEffect(() => {
    text.value = filter
  }, [filter])
  const parsed = parseFilter(text.value)
  const submit = (event: Event) => {
    event.preventDefault()
    go(`/jobs${text.value.trim() === '' ? '' : `?q=${encodeURIComponent(text.value.trim())}`}`)
  }
  const terms = parseFilter(filter).terms ?? []
  return (
    <form class="filter-bar" onSubmit={submit}>
      <div class="filter-field">
        <Icon name="search" />
        <input
          aria-label="Filter"
          aria-describedby="filter-help"
          aria-invalid={parsed.problems !== undefined}
          list="filter-words"
          autocomplete="off"
          spellcheck={false}
          value={text.value}
          placeholder="state:dead job:send-* since:24h error:&quot;refused&quot; payload.order:777"
          onInput={(event) => {
            text.value = event.currentTarget.value
          }}
        />
        <button type="submit">Filter</button>
      </div>
      <datalist id="filter-words">
        {filterStates.map((state) => (
          <option key={state} value={`state:${state}`} />
        ))}
        {filterKeys
          .filter((key) => !['text', 'state', 'payload'].includes(key))
          .map((key) => (
            <option key={key} value={`${key}:`} />
          ))}
      </datalist>
      <p
        id="filter-help"
        class={parsed.problems === undefined ? 'visually-hidden' : 'filter-problem'}
        role={parsed.problems === undefined ? undefined : 'alert'}
      >
        {parsed.problems === undefined
          ? 'Conditions with a colon, or words to search for'
          : parsed.problems.map(({ message }) => message).join(' · ')}
      </p>
      {terms.length > 0 && (
        <div class="chips">
          {terms.map((term, at) => (
            <span key={writeTerm(term)} class="chip">
              <Text>{writeTerm(term)}</Text>
              <button
                type="button"
                class="icon-button"
                aria-label={`Remove ${writeTerm(term)}`}
                onClick={() => go(`/jobs?q=${encodeURIComponent(writeFilter(terms.filter((_, index) => index !== at)))}`)}
              >
                <Icon name="cross" />
              </button>
            </span>
          ))}
          <a href={`${base}/jobs`}>clear</a>
        </div>
      )}
    </form>
  )
}

export function Tabs({ terms, counts }: { readonly terms: readonly Term[]; readonly counts: Counts | null }) {
  const others = terms.filter(({ key }) => key !== 'state')
  const current = terms.find(({ key, negated }) => key === 'state' && !negated)?.values
  const link = (state: string | null) => {
    const said = writeFilter([...(state === null ? [] : [{ key: 'state', negated: false, values: [state] } as const]), ...others])
    return `${base}/jobs${said === '' ? '' : `?q=${encodeURIComponent(said)}`}`
  }
  return (
    <nav class="tabs" aria-label="States">
      <a href={link(null)} aria-current={current === undefined ? 'true' : undefined}>
        All
      </a>
      {tabs.map((state) => (
        <a key={state} href={link(state)} aria-current={current?.length === 1 && current[0] === state ? 'true' : undefined}>
          {state}{' '}
          {counts !== null && (
            <span class="tab-count" title={exact(counts[state])}>
              {count(counts[state])}
            </span>
          )}
        </a>
      ))}
    </nav>
  )
}
