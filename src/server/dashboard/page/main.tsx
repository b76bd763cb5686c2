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
import { Shell } from './shell.tsx'
import { labelTab } from './tab.ts'

export interface PageProps {
  /** The part of the address after the page's name. */
  readonly argument: string | undefined
}

type Page = ComponentType<PageProps>

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
  const problem = useSignal<string | null>(null)
  const version = useSignal(0)
  const key = name === 'jobs' && argument !== undefined ? 'job' : name
  useEffect(() => {
    if (me.value !== null || name === 'login') return
    read<Me>('me').then(
      (answer) => {
        offset.value = answer.now - Date.now()
        me.value = answer
      },
      (refused: Refusal) => {
        if (refused.status !== 401) problem.value = refused.message
      },
    )
  }, [name, me.value])
  useEffect(() => {
    const load = pages[key]
    if (load === undefined || loaded.has(key)) return
    load().then(
      (page) => {
        loaded.set(key, page)
        version.value++
      },
      () => {
        problem.value = 'This page could not be loaded. The server may have been updated: reload to continue.'
      },
    )
  }, [key])
  void version.value
  if (name === 'login') return <Login />
  if (me.value === null)
    return problem.value === null ? (
      <div class="loading" aria-busy="true" />
    ) : (
      <main class="lonely">
        <h1>Treadle</h1>
        <Problem problem={{ title: '', detail: problem.value }} />
      </main>
    )
  const Current = key === '' ? Overview : key in pages ? loaded.get(key) : NoPage
  return (
    <Shell>
      {problem.value !== null && <Problem problem={{ title: '', detail: problem.value }} />}
      {Current === undefined ? (
        <div class="loading" aria-busy="true" />
      ) : (
        <Current key={`${key}/${argument ?? ''}`} argument={argument} />
      )}
    </Shell>
  )
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
