import { signal } from '@preact/signals'
import type { Me, ProblemView } from '../shared/views/viewer.ts'
import { base, go } from './address.ts'

/** The server's reason for refusing a request. */
export class Refusal extends Error {
  readonly status: number

  constructor({ status, title, detail }: ProblemView) {
    super(detail === '' ? title : detail)
    this.status = status
  }
}

export const me = signal<Me | null>(null)

/** Whether the server has been updated since this page was loaded. */
export const isOutdated = signal(false)

/** How far the server's clock is ahead of the browser's. */
export const offset = signal(0)

export function now(): number {
  return Date.now() + offset.value
}

export function may(): boolean {
  const role = me.value?.role
  return role === 'operate' || role === 'admin'
}

export async function read<Answer>(name: string, query: Readonly<Record<string, string | undefined>> = {}): Promise<Answer> {
  const said = new URLSearchParams(Object.entries(query).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])))
  return answerOf(await fetch(`${base}/-/${name}?${said}`, { headers: { accept: 'application/json' } }))
}

/** The second click of a double click comes within this time. */
const doubleClickMs = 600
let last: { readonly key: string; readonly answer: Promise<unknown> } | null = null

/** The same change twice in a row is one: a double click runs nothing twice. */
export function change<Answer>(method: 'POST' | 'PATCH' | 'DELETE', name: string, body?: unknown): Promise<Answer> {
  const text = body === undefined ? undefined : JSON.stringify(body)
  const key = `${method} ${name} ${text}`
  if (last?.key === key) return last.answer as Promise<Answer>
  const answer = send<Answer>(method, name, text)
  const sent = { key, answer }
  last = sent
  const forget = () => {
    if (last === sent) last = null
  }
  answer.then(() => setTimeout(forget, doubleClickMs), forget)
  return answer
}

async function send<Answer>(method: string, name: string, text: string | undefined): Promise<Answer> {
  const headers = { 'content-type': 'application/json', 'x-treadle': '1' }
  return answerOf(await fetch(`${base}/-/${name}`, { method, headers, ...(text !== undefined && { body: text }) }))
}

async function answerOf<Answer>(response: Response): Promise<Answer> {
  if (response.status === 204) return undefined as Answer
  const text = await response.text()
  if (response.ok) return (text === '' ? undefined : JSON.parse(text)) as Answer
  const problem = problemIn(text, response)
  if (problem.status === 401) toLogin()
  throw new Refusal(problem)
}

function problemIn(text: string, { status, statusText }: Response): ProblemView {
  try {
    const { title, detail } = JSON.parse(text) as Partial<ProblemView>
    return { status, title: title ?? statusText, detail: detail ?? '' }
  } catch {
    return { status, title: statusText || `Status ${status}`, detail: '' }
  }
}

/** Returns to the same page after signing in. */
export function toLogin(): void {
  const here = location.pathname.slice(base.length) + location.search
  if (here.startsWith('/login')) return
  me.value = null
  go(`/login?next=${encodeURIComponent(here)}`)
}
