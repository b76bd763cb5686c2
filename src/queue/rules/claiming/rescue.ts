/** What becomes of a job whose owner died or lost its lease. */
export type Rescue = 'returned' | 'poisoned' | 'interrupted'

/** How a job was held when its owner died. */
interface Held {
  /** Its handler was called and must not be called again. */
  readonly begun: boolean
  /** Its owner held other jobs too, so the death says nothing about this one. */
  readonly amongOthers: boolean
}

/** `rescues` counts this one. */
export function rescueOf({ begun, amongOthers }: Held, rescues: number, maxRescues: number): Rescue {
  if (begun) return 'interrupted'
  return rescues > maxRescues && !amongOthers ? 'poisoned' : 'returned'
}

/** The error of a job that is not returned. `owner` is null if it is not known. */
export function rescueText(rescue: Exclude<Rescue, 'returned'>, owner: string | null, rescues: number): string {
  if (rescue === 'poisoned')
    return `Its worker died or hung ${rescues} times${owner === null ? '' : `, the last one was ${owner}`}`
  return `Its worker ${owner} died or hung while it ran. It must not start twice, so it was not put back; what it did may be incomplete`
}
