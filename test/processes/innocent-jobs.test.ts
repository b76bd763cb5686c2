import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { type Treadle, treadle } from 'treadle'
import { describe, expect, onTestFinished, test } from 'vitest'
import { freshPrefix, redisUrl } from '../backends/redis-ground.ts'
import { freshDatabase } from '../services.ts'
import { scratchFolder } from './database.ts'
import { endPrograms, eventually, type Program, startProgram } from './program.ts'

const key = 'a key that all workers of this test share'
type Engine = 'sqlite' | 'postgres' | 'mariadb' | 'redis'
const engines: readonly Engine[] = ['sqlite', 'postgres', 'mariadb', ...(redisUrl() === null ? [] : ['redis' as const])]

/** Of one queue: how long innocent jobs take, and where among them stand those that end their process, and how. */
const queue = fc.record({
  innocent: fc.array(fc.constantFrom(0, 0, 0, 5, 60), { minLength: 20, maxLength: 60 }),
  poison: fc.array(
    fc.record({ at: fc.nat({ max: 60 }), ms: fc.constantFrom(0, 15), death: fc.constantFrom('exit', 'kill', 'throw') }),
    { minLength: 1, maxLength: 2 },
  ),
})
const crowd = fc.record({
  queues: fc.array(queue, { minLength: 1, maxLength: 2 }),
  workers: fc.integer({ min: 1, max: 2 }),
  concurrency: fc.constantFrom(1, 3, 10),
  maxRescues: fc.constantFrom(0, 1, 3),
})
type Crowd = typeof crowd extends fc.Arbitrary<infer Value> ? Value : never

/** The first of them on each engine; `npm run test:deep` tries more. */
const tries = Number(process.env.TREADLE_CROWDS ?? 2)

describe.each(engines)('on %s, of jobs that share workers with some that end them', (engine) => {
  test.each(fc.sample(crowd, { numRuns: tries, seed: 20_261_117 }).map((each, number) => [number, each] as const))(
    'only the guilty ones are dead, each as poisoned, and all others succeed: crowd %i',
    (_, given) => judge(engine, given),
  )
})

async function judge(engine: Engine, { queues, workers, concurrency, maxRescues }: Crowd): Promise<void> {
  const folder = scratchFolder()
  const urls = await Promise.all(queues.map((_, index) => freshUrl(engine, folder.file(`jobs-${index}.db`))))
  const instances = urls.map((url) => treadle(url, { signingKey: key }))
  const log = folder.file('trace.log')
  const running: Program[] = []
  let isOver = false
  onTestFinished(async () => {
    isOver = true
    await endPrograms()
    for (const jobs of instances) await jobs.close()
    folder.remove()
  })
  const guilty = (await Promise.all(queues.map((each, index) => fill(instances[index]!, each)))).flat()
  const start = () => startProgram('poisoned-queues', { urls, key, log, concurrency, maxRescues })
  while (running.length < workers) running.push(start())
  await eventually('all jobs have ended', async () => {
    for (const [at, program] of running.entries()) if (program.hasEnded && !isOver) running[at] = start()
    return (await alive(instances)) === 0
  })
  isOver = true
  const dead = (await Promise.all(instances.map(async (jobs) => (await jobs.store()).list({ state: 'dead', limit: 100 })))).flat()
  expect(dead.map(({ id, reason }) => `${id} ${reason}`).sort()).toEqual(guilty.map((id) => `${id} poisoned`).sort())
  // None was begun more often than it takes to be sure: alone at last, and as often as allowed before.
  const begun = readFileSync(log, 'utf8').split('\n')
  for (const id of guilty) {
    expect(begun.filter((line) => line === `poison ${id}`).length).toBeLessThanOrEqual(Math.max(1, maxRescues) + 1)
  }
}

async function fill(jobs: Treadle, { innocent, poison }: Crowd['queues'][number]): Promise<readonly string[]> {
  const [guiltyJob, innocentJob] = [jobs.declare('poison'), jobs.declare<number>('innocent')]
  const guilty: string[] = []
  for (const [at, ms] of innocent.entries()) {
    for (const each of poison.filter((one) => one.at === at || (at === innocent.length - 1 && one.at > at))) {
      guilty.push((await guiltyJob.dispatch({ ms: each.ms, death: each.death })).id)
    }
    await innocentJob.dispatch(ms)
  }
  return guilty
}

async function alive(instances: readonly Treadle[]): Promise<number> {
  const counts = await Promise.all(instances.map(async (jobs) => (await jobs.store()).counts({ isSum: true })))
  return counts
    .flat()
    .reduce((sum, { counts: { ready, scheduled, blocked, running } }) => sum + ready + scheduled + blocked + running, 0)
}

async function freshUrl(engine: Engine, path: string): Promise<string> {
  if (engine === 'sqlite') return `sqlite:${path}`
  if (engine === 'redis') return `${redisUrl()}?prefix=${freshPrefix()}`
  const database = await freshDatabase(engine)
  onTestFinished(() => database.dispose())
  return database.url
}
