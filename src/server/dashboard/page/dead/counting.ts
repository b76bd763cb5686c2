import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import type { DeadPage, ErrorGroup } from '../../shared/views/dead.ts'
import type { Searched } from '../../shared/views/job.ts'
import { read } from '../calls.ts'

/** Groups in which every job was counted, as far as the counting has come. */
export interface Counted {
  readonly groups: readonly ErrorGroup[]
  readonly searched: Searched
  readonly isOver: boolean
}

/** Counts all dead jobs, part by part, until the end or until it is stopped. */
export function useCounting() {
  const counted = useSignal<Counted | null>(null)
  const problem = useSignal<string | null>(null)
  const turn = useRef(0)
  const stop = () => {
    turn.current++
    if (counted.value !== null) counted.value = { ...counted.value, isOver: true }
  }
  const start = async () => {
    const own = ++turn.current
    problem.value = null
    let cursor: string | undefined
    let known: Counted = { groups: [], searched: { jobs: 0, until: null }, isOver: false }
    counted.value = known
    try {
      do {
        const { groups, searched, next } = await read<DeadPage>('dead', { cursor })
        if (turn.current !== own) return
        cursor = next ?? undefined
        known = {
          groups: merged(known.groups, groups),
          searched: { jobs: known.searched.jobs + searched.jobs, until: searched.until ?? known.searched.until },
          isOver: next === null,
        }
        counted.value = known
      } while (cursor !== undefined)
    } catch (refused) {
      problem.value = (refused as Error).message
      if (turn.current === own) stop()
    }
  }
  const forget = () => {
    turn.current++
    counted.value = null
  }
  useEffect(() => forget, [])
  return { counted: counted.value, problem: problem.value, start, stop, forget }
}

function merged(before: readonly ErrorGroup[], after: readonly ErrorGroup[]): readonly ErrorGroup[] {
  const groups = new Map(before.map((group) => [group.key, group]))
  for (const group of after) {
    const known = groups.get(group.key)
    groups.set(group.key, known === undefined ? group : sumOf(known, group))
  }
  return [...groups.values()].toSorted((a, b) => b.lastAt - a.lastAt)
}

function sumOf(known: ErrorGroup, group: ErrorGroup): ErrorGroup {
  const { days } = known
  return {
    ...known,
    jobs: known.jobs + group.jobs,
    firstAt: known.firstAt === null || group.firstAt === null ? null : Math.min(known.firstAt, group.firstAt),
    lastAt: Math.max(known.lastAt, group.lastAt),
    days: days === null || group.days === null ? null : days.map((value, at) => value + (group.days?.[at] ?? 0)),
  }
}
