import { useSignal } from '@preact/signals'
import { type ComponentType, render } from 'preact'
import { useEffect } from 'preact/hooks'
import type { Me } from '../shared/views/viewer.ts'
import { address, onLinkClick, to } from './address.ts'
import { me, offset, type Refusal, read } from './calls.ts'
import { Problem } from './components/parts.tsx'
import { onKey } from './keys.ts'
import { Login } from './pages/login.tsx'
import { Overview } from './pages/overview.tsx'
import { ReloadAdvice, Shell } from './shell.tsx'
import { labelTab } from './tab.ts'

export interface PageProps {
  /** The part of the address after the page's name. */
  readonly argument: string | undefined
}

type Page = ComponentType<PageProps>

/** A request that failed is made again after this time, while its page is shown. */
const retryMs = 3_000

/** Each page has its own script, loaded when it is first opened. */
const pages: Readonly<Record<string, () => Promise<Page>>> = {
  jobs: async () => (await import('./pages/jobs.tsx')).Jobs,
  job: async () => (await import('./pages/job.tsx')).Job,
  queues: async () => (await import('./pages/queues.tsx')).Queues,
  workflows: async () => (await import('./pages/workflows.tsx')).Workflows,
  schedules: async () => (await import('./pages/schedules.tsx')).Schedules,
  dead: async () => (await import('./pages/dead.tsx')).Dead,
  workers: async () => (await import('./pages/workers.tsx')).Workers,
  engine: async () => (await import('./pages/engine.tsx')).Engine,
  activity: async () => (await import('./pages/activity.tsx')).ActivityPage,
}

const loaded = new Map<string, Page>()

function App() {
  const [name = '', argument] = address.value.parts
  const key = name === 'jobs' && argument !== undefined ? 'job' : name
  const refusal = useViewer(name)
  const { page: Current, isMissing } = usePage(key)
  if (name === 'login') return <Login />
  if (me.value === null)
    return refusal === null ? (
      <div class="loading" aria-busy="true" />
    ) : (
      <main class="lonely">
        <h1>Treadle</h1>
        <Problem problem={{ title: '', detail: refusal }} />
      </main>
    )
  return (
    <Shell>
      {isMissing && <ReloadAdvice>This page could not be loaded: the server does not answer, or was updated.</ReloadAdvice>}
      {Current !== undefined ? (
        <Current key={`${key}/${argument ?? ''}`} argument={argument} />
      ) : (
        !isMissing && <div class="loading" aria-busy="true" />
      )}
    </Shell>
  )
}

/** Asks who is looking, again and again if the server does not answer. Says why it does not. */
function useViewer(name: string): string | null {
  const refusal = useSignal<string | null>(null)
  const failures = useSignal(0)
  useEffect(() => {
    if (me.value !== null || name === 'login') return undefined
    let timer: number | undefined
    read<Me>('me').then(
      (answer) => {
        offset.value = answer.now - Date.now()
        refusal.value = null
        me.value = answer
      },
      (refused: Refusal) => {
        if (refused.status === 401) return
        refusal.value = refused.message
        timer = setTimeout(() => failures.value++, retryMs)
      },
    )
    return () => clearTimeout(timer)
  }, [name, me.value, failures.value])
  return refusal.value
}

/** The page of this name, once its script is loaded. */
function usePage(key: string): { readonly page: Page | undefined; readonly isMissing: boolean } {
  const version = useSignal(0)
  const missing = useSignal<string | null>(null)
  useEffect(() => {
    const load = pages[key]
    if (load === undefined || loaded.has(key)) return undefined
    let timer: number | undefined
    // Browsers do not load a script again that could not be loaded, so the page is.
    const reload = () => {
      timer = setTimeout(() => read('me').then(() => timer !== undefined && location.reload(), reload), retryMs)
    }
    load().then(
      (page) => {
        loaded.set(key, page)
        version.value++
      },
      () => {
        missing.value = key
        if (!wasReloaded()) reload()
      },
    )
    return () => {
      clearTimeout(timer)
      timer = undefined
    }
  }, [key])
  void version.value
  const page = key === '' ? Overview : key in pages ? loaded.get(key) : NoPage
  return { page, isMissing: page === undefined && missing.value === key }
}

/** A page that lacks a script for good must not be reloaded forever. */
function wasReloaded(): boolean {
  const [navigation] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[]
  return navigation?.type === 'reload'
}

function NoPage() {
  return (
    <>
      <h1>There is no such page</h1>
      <p>
        The address may have been mistyped. Go to the <a href={to('')}>overview</a> or to the <a href={to('jobs')}>jobs</a>.
      </p>
    </>
  )
}

labelTab()
document.addEventListener('click', onLinkClick)
document.addEventListener('keydown', onKey)
const place = document.querySelector('#app')
if (place !== null) render(<App />, place)
