import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { world } from '../world.ts'
import { parseExposition } from './exposition-parser.ts'

const folder = fileURLToPath(new URL('../../examples/monitoring/', import.meta.url))

test.each(['grafana-dashboard.json', 'prometheus-rules.yaml', 'keda.yaml'])(
  '%s asks only for metrics and outcomes that there are',
  async (file) => {
    const { jobs } = world()
    jobs.define('job', () => {})
    await jobs.metrics.text()
    await jobs.dispatch('job' as never)
    const known = new Set(parseExposition(await jobs.metrics.text()).keys())
    // Only while a worker runs.
    for (const name of ['running_jobs', 'concurrency', 'allowed_jobs']) known.add(`treadle_worker_${name}`)
    known.add('treadle_breaker_state')
    const text = readFileSync(`${folder}${file}`, 'utf8')
    const asked = new Set([...text.matchAll(/\btreadle_[a-z_]+/g)].map(([name]) => name.replace(/_(?:bucket|sum|count)$/, '')))
    expect(asked.size).toBeGreaterThan(1)
    expect([...asked].filter((name) => !known.has(name))).toEqual([])
  },
)

test('the Grafana dashboard is JSON whose panels have ids of their own and do not lie upon each other', () => {
  interface Panel {
    readonly id: number
    readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number }
  }
  const { panels } = JSON.parse(readFileSync(`${folder}grafana-dashboard.json`, 'utf8')) as { readonly panels: readonly Panel[] }
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length)
  const taken = new Set<string>()
  for (const { gridPos } of panels) {
    for (let x = gridPos.x; x < gridPos.x + gridPos.w; x++) {
      for (let y = gridPos.y; y < gridPos.y + gridPos.h; y++) {
        expect(taken.has(`${x},${y}`)).toBe(false)
        taken.add(`${x},${y}`)
      }
    }
  }
})
