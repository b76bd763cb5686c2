import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { address } from '../address.ts'
import { Icon, type IconName } from './icons.tsx'

/** A button that opens a small panel. Escape, a click elsewhere and another page close it. */
export function Menu({
  label,
  icon,
  children,
}: {
  readonly label: string
  readonly icon: IconName
  readonly children: ComponentChildren
}) {
  const place = useRef<HTMLDetailsElement>(null)
  useEffect(() => {
    const closeOutside = ({ target }: Event) => {
      if (place.current !== null && !place.current.contains(target as Node)) place.current.open = false
    }
    document.addEventListener('pointerdown', closeOutside)
    return () => document.removeEventListener('pointerdown', closeOutside)
  }, [])
  const here = address.value
  useEffect(() => {
    if (place.current !== null) place.current.open = false
  }, [here])
  const closeByKey = (event: KeyboardEvent) => {
    if (event.key !== 'Escape' || place.current?.open !== true) return
    event.stopPropagation()
    place.current.open = false
    place.current.querySelector('summary')?.focus()
  }
  return (
    <details ref={place} class="menu" onKeyDown={closeByKey}>
      <summary class="button">
        <Icon name={icon} /> {label}
      </summary>
      <div class="menu-panel">{children}</div>
    </details>
  )
}
