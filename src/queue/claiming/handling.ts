/** How a leased job is held, as SQL engines store it: what becomes of the job when its lease runs out depends on it. */
export const handling = {
  /** By itself: that its owner died may be its fault. */
  alone: 0,
  /** Its handler was begun and must never be begun again. */
  begunForGood: 1,
  /** Beside other jobs, begun or not: that its owner died says nothing of this one. */
  amongOthers: 2,
} as const

/** What a statement sets for a job that is held by itself from now on. */
export const heldAlone = `begun = CASE begun WHEN ${handling.amongOthers} THEN ${handling.alone} ELSE begun END`

export function handlingOf({ amongOthers = false }: { readonly amongOthers?: boolean }): number {
  return amongOthers ? handling.amongOthers : handling.alone
}
