import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import type { Counts } from '../shared/views/job.ts'
import type { VerdictLine } from '../shared/views/overview.ts'
import { address, base, go } from './address.ts'
import { change, isOutdated, me } from './calls.ts'
import { Icon, type IconName } from './components/icons.tsx'
import { Messages, QuestionDialog } from './components/messages.tsx'
import { tick } from './components/parts.tsx'
import { clock, count, visible } from './format.ts'
import { isHelpOpen, keyWords } from './keys.ts'
import { connection, heardAt, isPaused, pauseOrResume, useLive } from './live.ts'
import { hasKeys, nextTheme, setKeys, setZone, theme, zone, zoneName } from './settings.ts'
import { verdict } from './tab.ts'

const pages: readonly (readonly [path: string, label: string, icon: IconName])[] = [
  ['', 'Overview', 'overview'],
  ['jobs', 'Jobs', 'jobs'],
  ['queues', 'Queues', 'queues'],
  ['workflows', 'Workflows', 'workflows'],
  ['schedules', 'Schedules', 'schedules'],
  ['dead', 'Dead', 'dead'],
  ['workers', 'Workers', 'workers'],
  ['engine', 'Engine', 'engine'],
  ['activity', 'Activity', 'activity'],
]

export function Shell({ children }: { readonly children: ComponentChildren }) {
  const colour = me.value?.colour
  return (
    <div class="shell" data-colour={colour ?? undefined}>
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <TopBar />
      <Rail />
      <main id="main" tabIndex={-1}>
        {isOutdated.value && <ReloadAdvice>The server has been updated since this page was loaded.</ReloadAdvice>}
        {children}
      </main>
      <Messages />
      <QuestionDialog />
      <Help />
    </div>
  )
}

/** Something is amiss that a reload may mend. */
export function ReloadAdvice({ children }: { readonly children: string }) {
  return (
    <p class="advice" role="status">
      <Icon name="warning" />
      <span>{children}</span>
      <button type="button" onClick={() => location.reload()}>
        Reload
      </button>
    </p>
  )
}

function Rail() {
  const here = address.value.parts[0] ?? ''
  const { data: counts } = useLive<Counts>('counts')
  const { data: lines } = useLive<readonly VerdictLine[]>('verdict')
  useEffect(() => {
    verdict.value = lines
  }, [lines])
  const worst = lines?.[0]
  return (
    <nav class="rail" aria-label="Pages">
      {pages
        .filter(([path]) => path !== 'engine' || me.value?.isLimited === false)
        .map(([path, label, icon]) => (
          <a key={path} href={`${base}/${path}`} aria-current={here === path ? 'page' : undefined} title={label}>
            <Icon name={icon} />
            <span class="rail-label">{label}</span>
            {path === '' && worst !== undefined && (
              <span class={`rail-mark rail-mark-${worst.level}`} title={visible(worst.text)}>
                <span class="visually-hidden">
                  {worst.level === 'problem' ? 'something is wrong' : 'something needs attention'}
                </span>
              </span>
            )}
            {path === 'dead' && counts !== null && counts.dead > 0 && <span class="rail-count">{count(counts.dead)}</span>}
          </a>
        ))}
    </nav>
  )
}

function TopBar() {
  const search = (event: Event) => {
    event.preventDefault()
    const field = (event.currentTarget as HTMLFormElement).elements.namedItem('q') as HTMLInputElement
    go(`/jobs?q=${encodeURIComponent(field.value.trim())}`)
    field.blur()
  }
  // After the first paint: there are some four hundred.
  const zones = useSignal<readonly string[]>([])
  useEffect(() => {
    zones.value = Intl.supportedValuesOf('timeZone')
  }, [])
  const { user = null, role, environment = null, canLogOut = false } = me.value ?? {}
  return (
    <header class="top">
      <a class="brand" href={`${base}/`} aria-label="Treadle, overview">
        <img src={`${base}/-/icon.svg`} alt="" width="24" height="24" />
        <strong>Treadle</strong>
      </a>
      {environment !== null && <span class="environment">{visible(environment)}</span>}
      <form class="search" role="search" onSubmit={search}>
        <Icon name="search" />
        <input
          id="search"
          name="q"
          type="search"
          autocomplete="off"
          placeholder="Search jobs: an id, a text, state:dead …"
          aria-label="Search jobs"
        />
        <kbd>/</kbd>
      </form>
      <LiveState />
      <select
        class="zone"
        aria-label="Time zone"
        title={zoneName()}
        value={zone.value}
        onChange={(event) => setZone(event.currentTarget.value)}
      >
        <option value="browser">Local time</option>
        <option value="UTC">UTC</option>
        {(zones.value.includes(zone.value) || ['browser', 'UTC'].includes(zone.value)
          ? zones.value
          : [zone.value, ...zones.value]
        ).map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
      <button
        type="button"
        class="icon-button"
        onClick={nextTheme}
        aria-label={`Theme: ${theme.value}`}
        title={`Theme: ${theme.value}`}
      >
        <Icon name={theme.value === 'system' ? 'half' : theme.value === 'light' ? 'sun' : 'moon'} />
      </button>
      {role !== undefined && (
        <span class="who">
          {user !== null && <b>{visible(user)}</b>} {role}
        </span>
      )}
      {canLogOut && (
        <button type="button" class="icon-button" aria-label="Sign out" title="Sign out" onClick={signOut}>
          <Icon name="out" />
        </button>
      )}
    </header>
  )
}

async function signOut(): Promise<void> {
  await change('POST', 'logout').catch(() => {})
  me.value = null
  go('/login')
}

function LiveState() {
  void tick.value
  const state = connection.value
  const words = {
    live: 'live',
    connecting: 'connecting',
    reconnecting: 'reconnecting',
    paused: 'paused',
    polling: 'live, every 5 s',
  }
  const at = heardAt.value
  return (
    <button
      type="button"
      class={`live live-${state}`}
      onClick={pauseOrResume}
      aria-pressed={isPaused.value}
      title="Live or paused (.)"
    >
      <span class="dot" aria-hidden="true" />
      <span class="live-word">{words[state]}</span>
      {at !== null && state !== 'live' && <span class="muted">as of {clock(at)}</span>}
    </button>
  )
}

function Help() {
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    if (isHelpOpen.value) dialog.current?.showModal()
    else dialog.current?.close()
  }, [isHelpOpen.value])
  return (
    <dialog
      ref={dialog}
      class="dialog"
      aria-labelledby="help-title"
      onClose={() => {
        isHelpOpen.value = false
      }}
    >
      <h2 id="help-title">Keyboard shortcuts</h2>
      <dl class="keys">
        {keyWords.map(([keys, what]) => (
          <div key={keys}>
            <dt>
              <kbd>{keys}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <label class="check">
        <input type="checkbox" checked={hasKeys.value} onChange={(event) => setKeys(event.currentTarget.checked)} /> Single-key
        shortcuts
      </label>
      <div class="dialog-buttons">
        <button
          type="button"
          autofocus
          onClick={() => {
            isHelpOpen.value = false
          }}
        >
          Close
        </button>
      </div>
    </dialog>
  )
}
