import { Text } from '../components/parts.tsx'

const stored = 'stored:'

/** A schedule by its name; the key of a stored one, marked as such. */
export function ScheduleName({ name }: { readonly name: string }) {
  if (!name.startsWith(stored)) return <Text>{name}</Text>
  return (
    <>
      <Text>{name.slice(stored.length)}</Text> <span class="muted">stored</span>
    </>
  )
}
