import { signal } from '@preact/signals'

export type Theme = 'system' | 'light' | 'dark'
export type Zone = 'browser' | 'UTC' | (string & {})

export const theme = signal<Theme>(readTheme())
export const zone = signal<Zone>(localStorage.getItem('treadle-zone') ?? 'browser')
export const hasKeys = signal(localStorage.getItem('treadle-keys') !== 'off')

function readTheme(): Theme {
  const kept = localStorage.getItem('treadle-theme')
  return kept === 'light' || kept === 'dark' ? kept : 'system'
}

function setTheme(next: Theme): void {
  theme.value = next
  if (next === 'system') {
    localStorage.removeItem('treadle-theme')
    delete document.documentElement.dataset.theme
  } else {
    localStorage.setItem('treadle-theme', next)
    document.documentElement.dataset.theme = next
  }
}

export function nextTheme(): void {
  setTheme(theme.value === 'system' ? 'light' : theme.value === 'light' ? 'dark' : 'system')
}

export function setZone(next: Zone): void {
  zone.value = next
  localStorage.setItem('treadle-zone', next)
}

/** The zone name for `Intl`. */
export function zoneName(): string {
  return zone.value === 'browser' ? Intl.DateTimeFormat().resolvedOptions().timeZone : zone.value
}

export function setKeys(on: boolean): void {
  hasKeys.value = on
  localStorage.setItem('treadle-keys', on ? 'on' : 'off')
}
