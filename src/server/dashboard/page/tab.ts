import { effect, signal } from '@preact/signals'
import type { VerdictLine } from '../shared/views/overview.ts'
import { address, base } from './address.ts'
import { me } from './calls.ts'
import { shortId, visible } from './format.ts'

/** What is wrong, worst first; null until it is known. */
export const verdict = signal<readonly VerdictLine[] | null>(null)

/** One tab among many says which page it is, of which installation, and whether all is well there. */
export function labelTab(): void {
  effect(() => {
    const lines = me.value === null ? null : verdict.value
    const environment = me.value?.environment ?? null
    const names = [pageName(lines), ...(environment === null ? [] : [visible(environment)]), 'Treadle']
    document.title = `${lines?.[0] === undefined ? '' : `(${lines.length}) `}${names.filter((name) => name !== '').join(' · ')}`
    markIcon(lines?.[0]?.level)
  })
}

function pageName(lines: readonly VerdictLine[] | null): string {
  const [page = '', argument] = address.value.parts
  if (page === '') return lines === null ? '' : lines.length === 0 ? 'All is well' : visible(lines[0]?.text ?? '')
  if (argument !== undefined)
    return `${singular[page] ?? ''} ${page === 'queues' || page === 'schedules' ? visible(argument) : shortId(argument)}`
  return `${page[0]?.toUpperCase()}${page.slice(1)}`
}

const singular: Readonly<Record<string, string>> = {
  jobs: 'Job',
  queues: 'Queue',
  workflows: 'Workflow',
  schedules: 'Schedule',
  dead: 'Dead',
  workers: 'Worker',
}

/** There is an icon with a dot in its corner for each level. */
function markIcon(level: VerdictLine['level'] | undefined): void {
  const link = document.querySelector<HTMLLinkElement>('link[rel=icon]')
  if (link !== null) link.href = `${base}/-/icon${level === undefined ? '' : `-${level}`}.svg`
}
