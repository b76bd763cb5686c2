import { useSignal } from '@preact/signals'
import { type JsonNode, readJson, writeTree } from '../../shared/json-tree.ts'
import type { ShownText } from '../../shared/views/job.ts'
import { base } from '../address.ts'
import { bytes, visible } from '../format.ts'
import { Icon } from './icons.tsx'
import { Card, Copy } from './parts.tsx'

const openTo = 3
const shownAtOnce = 200

export function TextCard({
  title,
  shown,
  jobId,
  part,
}: {
  readonly title: string
  readonly shown: ShownText
  readonly jobId: string
  readonly part: string
}) {
  const isRaw = useSignal(false)
  if (shown.kind === 'none') return null
  if (shown.kind === 'hidden')
    return (
      <Card title={title}>
        <p class="muted">
          <Icon name="lock" /> Hidden ({bytes(shown.bytes)})
        </p>
      </Card>
    )
  if (shown.kind === 'encrypted')
    return (
      <Card title={title}>
        <p class="muted">
          <Icon name="lock" /> Encrypted with the key {visible(shown.kid)}, {bytes(shown.bytes)}. It is read only by workers that
          have the key.
        </p>
      </Card>
    )
  const tree = shown.kind === 'json' && !shown.cut ? readJson(shown.text) : null
  const actions = (
    <span class="card-actions">
      <span class="muted">{bytes(shown.bytes)}</span>
      {tree !== null && (
        <button
          type="button"
          class="plain"
          aria-pressed={isRaw.value}
          onClick={() => {
            isRaw.value = !isRaw.value
          }}
        >
          {isRaw.value ? 'tree' : 'raw'}
        </button>
      )}
      <Copy text={shown.text} label={`Copy ${title.toLowerCase()}`} />
      {shown.cut && (
        <a href={`${base}/-/text?id=${encodeURIComponent(jobId)}&part=${part}`} download>
          download
        </a>
      )}
    </span>
  )
  return (
    <Card title={title} actions={actions}>
      {tree === null || isRaw.value ? (
        <pre class="code" tabIndex={0}>
          {visible(shown.text)}
          {shown.cut && '\n…'}
        </pre>
      ) : (
        <div class="json" tabIndex={0} role="region" aria-label={title}>
          <Node node={tree} depth={0} />
        </div>
      )}
    </Card>
  )
}

function Node({ node, depth, name }: { readonly node: JsonNode; readonly depth: number; readonly name?: string }) {
  const label =
    name === undefined ? null : (
      <span class="json-name">
        <bdi>{visible(name)}</bdi>:{' '}
      </span>
    )
  if (node.kind === 'text')
    return (
      <div class="json-line">
        {label}
        <span class="json-text">
          "<bdi>{visible(node.text)}</bdi>"
        </span>
      </div>
    )
  if (node.kind === 'literal')
    return (
      <div class="json-line">
        {label}
        <span class="json-literal">{node.text}</span>
      </div>
    )
  const size = node.kind === 'object' ? node.members.length : node.items.length
  const [open, close] = node.kind === 'object' ? ['{', '}'] : ['[', ']']
  if (size === 0)
    return (
      <div class="json-line">
        {label}
        {open}
        {close}
      </div>
    )
  return <Branch node={node} depth={depth} label={label} size={size} marks={[open as string, close as string]} />
}

type Parent = Extract<JsonNode, { readonly kind: 'object' | 'array' }>

function Branch({
  node,
  depth,
  label,
  size,
  marks: [open, close],
}: {
  readonly node: Parent
  readonly depth: number
  readonly label: preact.ComponentChildren
  readonly size: number
  readonly marks: readonly [string, string]
}) {
  const isOpen = useSignal(depth < openTo)
  const shown = useSignal(shownAtOnce)
  const members = node.kind === 'object' ? node.members : node.items.map((value) => ({ name: undefined, value }))
  return (
    <details
      open={isOpen.value}
      onToggle={(event) => {
        isOpen.value = event.currentTarget.open
      }}
    >
      <summary class="json-line">
        {label}
        {open}
        <span class="json-size">
          {' '}
          {size} {size === 1 ? 'entry' : 'entries'}{' '}
        </span>
        {close}
      </summary>
      {isOpen.value && (
        <div class="json-inside">
          {members.slice(0, shown.value).map(({ name, value }, at) => (
            <Node key={at} node={value} depth={depth + 1} {...(name !== undefined && { name })} />
          ))}
          {size > shown.value && (
            <button
              type="button"
              class="plain"
              onClick={() => {
                shown.value += shownAtOnce
              }}
            >
              {size - shown.value} more
            </button>
          )}
          {depth > 0 && <Copy text={writeTree(node)} label="Copy this part" />}
        </div>
      )}
    </details>
  )
}
