/** How a leased job is held, as its row says it. It decides what happens to the job when its lease expires. */
export const handling = {
  /** On its own: the job may be to blame for the death of its owner. */
  alone: 0,
  /** Its handler was begun and must never be begun again. */
  begunForGood: 1,
  /** Next to other jobs, begun or not: the death of its owner says nothing about this job. */
  amongOthers: 2,
} as const

interface Handling {
  readonly begun?: boolean
  readonly amongOthers?: boolean
}

export function handlingOf({ begun = false, amongOthers = false }: Handling): number {
  if (begun) return handling.begunForGood
  return amongOthers ? handling.amongOthers : handling.alone
}

export function readHandling(begun: number): Required<Handling> {
  return { begun: begun === handling.begunForGood, amongOthers: begun === handling.amongOthers }
}

/** An assignment for a job that is held on its own from now on. */
export const heldAlone = `begun = CASE begun WHEN ${handling.amongOthers} THEN ${handling.alone} ELSE begun END`
