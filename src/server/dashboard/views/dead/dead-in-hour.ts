import type { RecentDead } from './dead-groups.ts'

export const hourMs = 3_600_000

/** Of those that are still dead. If not all of them were read, the statistics of the last hour say how many died. */
export async function deadInHour(
  { ends, total, isWhole }: Pick<RecentDead, 'ends' | 'total' | 'isWhole'>,
  now: number,
  inStatistics: () => Promise<readonly { readonly dead: number }[]>,
): Promise<number> {
  const read = ends.filter((at) => at > now - hourMs).length
  if (isWhole) return read
  const counted = (await inStatistics()).reduce((sum, { dead }) => sum + dead, 0)
  return Math.min(total, Math.max(read, counted))
}
