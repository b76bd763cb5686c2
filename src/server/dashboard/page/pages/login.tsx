import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { Me } from '../../shared/views/viewer.ts'
import { address, base, go } from '../address.ts'
import { change, read } from '../calls.ts'
import { Problem } from '../components/parts.tsx'

/** Without a sign-in of its own, the host that the dashboard is mounted in decides who may see it. */
export function Login() {
  return 'signIn' in document.documentElement.dataset ? <OwnLogin /> : <HostLogin />
}

function HostLogin() {
  useEffect(() => {
    // Who may see it has no business here.
    read<Me>('me').then(
      () => go(nextPage(), { replace: true }),
      () => {},
    )
  }, [])
  return (
    <main class="lonely">
      <img src={`${base}/-/icon.svg`} alt="" width="48" height="48" />
      <h1>You cannot see this dashboard yet</h1>
      <p>
        The application that it belongs to decides who may see it. Sign in there with an account that may, then come back to this
        page.
      </p>
      <a class="button primary" href={`${base}${nextPage()}`}>
        Try again
      </a>
    </main>
  )
}

/** Where to go after signing in; never to another site. */
function nextPage(): string {
  const next = address.value.query.get('next') ?? '/'
  return next.startsWith('/') && !/^\/[/\\]|^\/login/.test(next) ? next : '/'
}

/** Signs in with the code from a printed link, or with a token. Neither is kept in the browser. */
function OwnLogin() {
  const problem = useSignal<string | null>(null)
  const busy = useSignal(false)
  const enter = async (shown: { readonly code?: string; readonly token?: string }) => {
    busy.value = true
    problem.value = null
    try {
      await change('POST', 'login', shown)
      go(nextPage(), { replace: true })
    } catch (refused) {
      problem.value = (refused as Error).message
    }
    busy.value = false
  }
  useEffect(() => {
    const code = /^#code=([\w-]+)$/.exec(location.hash)?.[1]
    if (code === undefined) return
    // The code is used up and need not stay in the history.
    history.replaceState(null, '', location.pathname + location.search)
    void enter({ code })
  }, [])
  const submit = (event: Event) => {
    event.preventDefault()
    const field = (event.currentTarget as HTMLFormElement).elements.namedItem('token') as HTMLInputElement
    void enter({ token: field.value.trim() })
  }
  return (
    <main class="lonely">
      <img src={`${base}/-/icon.svg`} alt="" width="48" height="48" />
      <h1>Treadle</h1>
      <form onSubmit={submit}>
        <label>
          Token
          <input name="token" type="password" autocomplete="current-password" required />
        </label>
        <button type="submit" class="primary" disabled={busy.value}>
          Sign in
        </button>
      </form>
      <Problem problem={problem.value === null ? null : { title: '', detail: problem.value }} />
      <p class="muted">A token of the server that this is the dashboard of. Its start also prints a link that signs in once.</p>
    </main>
  )
}
