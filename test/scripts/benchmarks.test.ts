import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'

const bench = fileURLToPath(new URL('../../bench', import.meta.url))

test('the benchmarks import only what the build exports', async () => {
  const imports = readdirSync(bench, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.mjs') && !path.includes('node_modules'))
    .flatMap((path) => importsOfBuild(join(bench, path)))
  expect(imports.length).toBeGreaterThan(5)
  const missing: string[] = []
  for (const { importer, file, names } of imports) {
    const module = (await import(pathToFileURL(file).href)) as Readonly<Record<string, unknown>>
    missing.push(...names.filter((name) => !(name in module)).map((name) => `${importer}: ${name} of ${file}`))
  }
  expect(missing).toEqual([])
})

test.each(['none', 'all'].flatMap((due) => [false, true].map((stored) => ({ due, stored }))))(
  'the benchmark of a tick measures schedules with $due due, stored: $stored',
  async (kind) => {
    const place = mkdtempSync(join(tmpdir(), 'treadle-ticks-'))
    onTestFinished(() => rmSync(place, { recursive: true, force: true }))
    const { measure } = (await import(pathToFileURL(join(bench, 'measure/ticks.mjs')).href)) as {
      readonly measure: (of: object) => Promise<{ readonly p50: number }>
    }
    expect(await measure({ place, schedules: 3, ticks: 1, warmUp: 1, ...kind })).toEqual({
      p50: expect.any(Number),
      p99: expect.any(Number),
    })
  },
)

function importsOfBuild(importer: string) {
  const found = readFileSync(importer, 'utf8').matchAll(/import \{([^}]*)\} from '(\.[^']*\/build\/[^']*)'/g)
  return [...found].map(([, names = '', from = '']) => ({
    importer,
    file: join(dirname(importer), from),
    names: names.split(',').flatMap((name) => name.trim().split(' as ')[0] || []),
  }))
}
