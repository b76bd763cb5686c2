import { rmSync, statSync, writeFileSync } from 'node:fs'
import { expect, vi } from 'vitest'

/** Resolves when a folder has been the same for longer than a tick of its clock: from then on, its time tells later changes. */
export async function settled(folder: string): Promise<void> {
  const { ctimeMs } = statSync(folder)
  const tickMs = ctimeMs % 1_000 === 0 ? 3_100 : 150
  // Written beside the folder, so by the same clock.
  const probe = `${folder}.probe`
  const nowMs = () => {
    writeFileSync(probe, '')
    return statSync(probe).ctimeMs
  }
  await vi.waitFor(() => expect(nowMs() - ctimeMs).toBeGreaterThan(tickMs), { timeout: 20_000, interval: 10 })
  rmSync(probe)
}
