import { signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { visible } from '../format.ts'
import { Icon } from './icons.tsx'
import { Linked } from './parts.tsx'

interface Message {
  readonly id: number
  readonly kind: 'done' | 'refused'
  readonly text: ComponentChildren
}

const messages = signal<readonly Message[]>([])
let last = 0

export function say(text: ComponentChildren, kind: Message['kind'] = 'done'): void {
  const id = ++last
  messages.value = [...messages.value.slice(-3), { id, kind, text }]
  setTimeout(() => dismiss(id), kind === 'done' ? 6_000 : 15_000)
}

function dismiss(id: number): void {
  messages.value = messages.value.filter((message) => message.id !== id)
}

/** Does something and shows the outcome. */
export async function attempt<Answer>(
  work: () => Promise<Answer>,
  done: ComponentChildren | ((answer: Answer) => ComponentChildren),
): Promise<Answer | undefined> {
  try {
    const answer = await work()
    say(typeof done === 'function' ? done(answer) : done)
    return answer
  } catch (refused) {
    say(<Linked>{(refused as Error).message}</Linked>, 'refused')
    return undefined
  }
}

export function Messages() {
  return (
    <div class="messages" role="status" aria-live="polite">
      {messages.value.map(({ id, kind, text }) => (
        <div key={id} class={`message ${kind}`}>
          <Icon name={kind === 'done' ? 'tick' : 'warning'} />
          <span>{typeof text === 'string' ? visible(text) : text}</span>
          <button type="button" class="icon-button" aria-label="Dismiss" onClick={() => dismiss(id)}>
            <Icon name="cross" />
          </button>
        </div>
      ))}
    </div>
  )
}

export interface Question {
  readonly title: string
  readonly text: ComponentChildren
  readonly action: string
  readonly isDangerous?: boolean
  /** What the user must type to confirm. */
  readonly typed?: string
  readonly field?: { readonly label: string; readonly type: 'datetime-local'; readonly value: string }
  readonly onAnswer: (field: string) => void
}

const question = signal<Question | null>(null)
const typed = signal('')
const field = signal('')

export function ask(next: Question): void {
  typed.value = ''
  field.value = next.field?.value ?? ''
  question.value = next
}

export function QuestionDialog() {
  const dialog = useRef<HTMLDialogElement>(null)
  const asked = question.value
  useEffect(() => {
    if (asked !== null) dialog.current?.showModal()
    else dialog.current?.close()
  }, [asked])
  const isReady = asked?.typed === undefined || typed.value === asked.typed
  const answer = (event: Event) => {
    event.preventDefault()
    if (asked === null || !isReady) return
    question.value = null
    asked.onAnswer(field.value)
  }
  return (
    <dialog
      ref={dialog}
      class="dialog"
      aria-labelledby="question-title"
      onClose={() => {
        question.value = null
      }}
    >
      {asked !== null && (
        <form onSubmit={answer}>
          <h2 id="question-title">{asked.title}</h2>
          <div class="dialog-text">{asked.text}</div>
          {asked.field !== undefined && (
            <label>
              {asked.field.label}
              <input
                type={asked.field.type}
                step="1"
                required
                value={field.value}
                onInput={(event) => {
                  field.value = event.currentTarget.value
                }}
              />
            </label>
          )}
          {asked.typed !== undefined && (
            <label>
              Type <strong>{asked.typed}</strong> to go on
              <input
                autocomplete="off"
                value={typed.value}
                onInput={(event) => {
                  typed.value = event.currentTarget.value
                }}
              />
            </label>
          )}
          <div class="dialog-buttons">
            <button
              type="button"
              autofocus
              onClick={() => {
                question.value = null
              }}
            >
              Cancel
            </button>
            <button type="submit" class={asked.isDangerous === true ? 'danger' : 'primary'} disabled={!isReady}>
              {asked.action}
            </button>
          </div>
        </form>
      )}
    </dialog>
  )
}
