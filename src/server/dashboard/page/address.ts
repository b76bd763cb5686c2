import { signal } from '@preact/signals'

/** Where the dashboard is mounted. */
export const base = document.documentElement.dataset.base ?? ''

export interface Address {
  /** The decoded segments below the mount path. */
  readonly parts: readonly string[]
  readonly query: URLSearchParams
}

export const address = signal(read())

function read(): Address {
  const path = location.pathname.slice(base.length)
  return { parts: path.split('/').filter(Boolean).map(decoded), query: new URLSearchParams(location.search) }
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

addEventListener('popstate', () => {
  address.value = read()
})

/** `path` is relative to the mount path, with a leading slash. */
export function go(path: string, options: { readonly replace?: boolean } = {}): void {
  if (options.replace === true) history.replaceState(null, '', base + path)
  else history.pushState(null, '', base + path)
  address.value = read()
  if (options.replace !== true) scrollTo(0, 0)
}

/** The address of the same page with another value for this parameter; null removes it. */
export function withParameter(name: string, value: string | null): string {
  const query = new URLSearchParams(location.search)
  if (value === null) query.delete(name)
  else query.set(name, value)
  const said = query.toString()
  return location.pathname.slice(base.length) + (said === '' ? '' : `?${said}`)
}

/** Handles a click on a link that stays in the dashboard and in this tab; leaves other links to the browser. */
export function onLinkClick(event: MouseEvent): void {
  const link = (event.target as Element | null)?.closest('a')
  if (link === null || link === undefined || event.defaultPrevented || event.button !== 0) return
  if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey || link.target !== '' || link.hasAttribute('download'))
    return
  const url = new URL(link.href)
  if (url.origin !== location.origin || !url.pathname.startsWith(`${base}/`) || url.pathname.startsWith(`${base}/-/`)) return
  if (url.hash !== '' && url.pathname === location.pathname) return
  event.preventDefault()
  go(url.pathname.slice(base.length) + url.search)
}

export function to(...parts: readonly string[]): string {
  return `${base}/${parts.map(encodeURIComponent).join('/')}`
}

export function toJobs(filter: string): string {
  return `${base}/jobs?q=${encodeURIComponent(filter)}`
}
