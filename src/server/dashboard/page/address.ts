import { signal } from '@preact/signals'

/** Where the dashboard is mounted. */
export const base = document.documentElement.dataset.base ?? ''

export interface Address {
  /** Below the mount path, in parts that are decoded. */
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

/** `path` is below the mount path, and begins with a slash. */
export function go(path: string, options: { readonly replace?: boolean } = {}): void {
  if (options.replace === true) history.replaceState(null, '', base + path)
  else history.pushState(null, '', base + path)
  address.value = read()
  if (options.replace !== true) scrollTo(0, 0)
}

/** The same page with another parameter; null takes it away. */
export function withParameter(name: string, value: string | null): string {
  const query = new URLSearchParams(location.search)
  if (value === null) query.delete(name)
  else query.set(name, value)
  const said = query.toString()
  return location.pathname.slice(base.length) + (said === '' ? '' : `?${said}`)
}

/** A click that the browser would follow by itself is ours where it stays on this page and in this tab. */
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
