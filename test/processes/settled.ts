import { statSync } from 'node:fs'
import { expect, vi } from 'vitest'

/** Resolves when a folder has been the same for longer than a tick of its clock: from then on, its time tells later changes. */
export async function settled(folder: string): Promise<void> {
  const { ctimeMs } = statSync(folder)
  const tickMs = ctimeMs % 1_000 === 0 ? 3_100 : 150
  await vi.waitFor(() => expect(Date.now() - ctimeMs).toBeGreaterThan(tickMs), { timeout: 5_000, interval: 10 })
}
