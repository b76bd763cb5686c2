import { signal } from '@preact/signals'
import { go } from './address.ts'
import { pauseOrResume } from './live.ts'
import { hasKeys, nextTheme, setZone, zone } from './settings.ts'

export const isHelpOpen = signal(false)

const pageKeys: Readonly<Record<string, string>> = {
  o: '/',
  j: '/jobs',
  q: '/queues',
  w: '/workflows',
  s: '/schedules',
  d: '/dead',
  k: '/workers',
  e: '/engine',
  a: '/activity',
}

export const keyWords: readonly (readonly [keys: string, what: string])[] = [
  ['/', 'search'],
  ['g then o j q w s d k e a', 'overview, jobs, queues, workflows, schedules, dead, workers, engine, activity'],
  ['j k', 'next and previous row'],
  ['Enter', 'open the row'],
  ['x', 'select the row'],
  ['r c n', 'retry, cancel, run now: the selection, or the job that is shown'],
  ['e', 'edit and run again the job that is shown'],
  ['p', 'pause or resume the queue or schedule of the row'],
  ['.', 'live or paused'],
  ['t z', 'theme, zone'],
  ['?', 'this help'],
  ['Esc', 'close'],
]

let isGoing = false

export function onKey(event: KeyboardEvent): void {
  if (
    !hasKeys.value ||
    event.ctrlKey ||
    event.metaKey ||
    event.altKey ||
    isTyping(event.target) ||
    (event.key === 'Enter' && isPressed(event.target)) ||
    document.querySelector('dialog[open]') !== null
  )
    return
  if (isGoing) {
    isGoing = false
    const path = pageKeys[event.key]
    if (path !== undefined) {
      done(event, () => go(path))
      return
    }
  }
  const act = actions[event.key]
  if (act !== undefined) {
    done(event, act)
    return
  }
  const button = document.querySelector<HTMLElement>(
    `${event.key === 'p' ? '[data-current] ' : ''}[data-key="${CSS.escape(event.key)}"]`,
  )
  if (button !== null) done(event, () => button.click())
}

const actions: Readonly<Record<string, () => void>> = {
  '/': () => document.querySelector<HTMLInputElement>('#search')?.focus(),
  '?': () => {
    isHelpOpen.value = true
  },
  g: () => {
    isGoing = true
    setTimeout(() => {
      isGoing = false
    }, 1_500)
  },
  j: () => move(1),
  k: () => move(-1),
  Enter: () => current()?.querySelector<HTMLElement>('a')?.click(),
  x: () => current()?.querySelector<HTMLElement>('input[type=checkbox]')?.click(),
  '.': pauseOrResume,
  t: nextTheme,
  z: () => setZone(zone.value === 'browser' ? 'UTC' : 'browser'),
}

function done(event: KeyboardEvent, act: () => void): void {
  event.preventDefault()
  act()
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName)) &&
    (target as HTMLInputElement).type !== 'checkbox'
  )
}

/** Whether Enter already does something here: follows a link, presses a button, opens a menu. */
function isPressed(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest('a, button, summary, input') !== null
}

function current(): HTMLElement | null {
  return document.querySelector<HTMLElement>('[data-row][data-current]')
}

function move(by: 1 | -1): void {
  const rows = [...document.querySelectorAll<HTMLElement>('[data-row]')]
  const at = rows.findIndex((row) => row.dataset.current !== undefined)
  const next = rows[at < 0 ? (by > 0 ? 0 : rows.length - 1) : Math.min(rows.length - 1, Math.max(0, at + by))]
  if (next === undefined) return
  for (const row of rows) delete row.dataset.current
  next.dataset.current = ''
  next.querySelector<HTMLElement>('a')?.focus({ preventScroll: true })
  next.scrollIntoView({ block: 'nearest' })
}
