import { type QueueEvent, type Treadle, treadle } from 'treadle'
import { afterEach, describe, expect, it, onTestFinished } from 'vitest'
import { scratchFolder } from '../processes/database.ts'
import { endPrograms, eventually, type Program, startProgram } from '../processes/program.ts'
import { freshDatabase } from '../services.ts'

const signingKey = 'k'.repeat(32)
const include = ['payload', 'result', 'tags', 'timings']

afterEach(endPrograms)

describe.each(['sqlite', 'postgres'] as const)('events of all processes on %s', (engine) => {
  it('a listener hears a worker and a producer of other processes, with what it asked for', async () => {
    const { jobs, url } = await place(engine)
    const worker = startProgram('events-worker', { url, signingKey })
    const listener = startProgram('events-listener', { url, signingKey, include })
    await Promise.all([worker.line('working'), listener.line('listening')])
    await heard(listener, jobs, worker.pid)
    const [done] = eventsOf(listener).filter(({ type }) => type === 'job:succeeded')
    expect(done).toMatchObject({ job: 'add', queue: 'default', attempt: 1, payload: { a: 1 }, result: 2, tags: ['sums'] })
    const producers = eventsOf(listener).filter(({ type }) => type === 'job:dispatched')
    expect(producers.every((event) => event.process.endsWith(`:${process.pid}`))).toBe(true)
    const positions = eventsOf(listener).map(({ position }) => Number(position.split('-')[1]))
    expect(positions).toEqual(positions.map((_, index) => (positions[0] as number) + index))
  })

  it('a listener goes on where a worker is killed, and hears the next one', async () => {
    const { jobs, url } = await place(engine)
    const listener = startProgram('events-listener', { url, signingKey, include })
    await listener.line('listening')
    const victim = startProgram('events-worker', { url, signingKey })
    await victim.line('working')
    await heard(listener, jobs, victim.pid)
    await jobs.dispatch('hang')
    await victim.line('started-hang')
    await victim.kill()
    const next = startProgram('events-worker', { url, signingKey })
    await next.line('working')
    await heard(listener, jobs, next.pid)
  })

  it('where a listener is killed, the worker goes on, and the next listener hears it', async () => {
    const { jobs, url } = await place(engine)
    const worker = startProgram('events-worker', { url, signingKey })
    const listener = startProgram('events-listener', { url, signingKey, include })
    await Promise.all([worker.line('working'), listener.line('listening')])
    await heard(listener, jobs, worker.pid)
    await listener.kill()
    const { events } = await jobs.store()
    expect(await events?.wanted()).toHaveLength(1)
    expect(await (await jobs.dispatch('add', { a: 2 })).result({ timeout: '60s' })).toBe(3)
    // Until its row ends by itself, events are recorded for nobody; the next listener is not disturbed by that.
    const next = startProgram('events-listener', { url, signingKey, include })
    await next.line('listening')
    await heard(next, jobs, worker.pid)
  })
})

async function place(engine: 'sqlite' | 'postgres'): Promise<{ readonly jobs: Treadle; readonly url: string }> {
  const url = engine === 'sqlite' ? sqliteUrl() : await postgresUrl()
  const jobs = treadle(url, { signingKey })
  jobs.define('add', ({ a }: { a: number }) => a + 1).tags('sums')
  jobs.define('hang', () => {})
  onTestFinished(() => jobs.close())
  await jobs.open()
  return { jobs, url }
}

function sqliteUrl(): string {
  const folder = scratchFolder()
  onTestFinished(() => folder.remove())
  return `sqlite:${folder.file('jobs.db')}`
}

async function postgresUrl(): Promise<string> {
  const database = await freshDatabase('postgres')
  onTestFinished(() => database[Symbol.asyncDispose]())
  return database.url
}

/** Programs notice within a second that somebody listens: jobs are dispatched until this worker's are heard. */
async function heard(listener: Program, jobs: Treadle, pid: number): Promise<void> {
  await eventually(`the listener hears process ${pid}`, async () => {
    await (await jobs.dispatch('add', { a: 1 })).result({ timeout: '60s' })
    const told = eventsOf(listener)
    const isOfWorker = told.some(({ type, process }) => type === 'job:succeeded' && process.endsWith(`:${pid}`))
    return isOfWorker && told.some(({ type }) => type === 'job:dispatched')
  })
}

function eventsOf({ lines }: Program): readonly QueueEvent[] {
  return lines.flatMap((line) => (line.startsWith('event ') ? [JSON.parse(line.slice(6)) as QueueEvent] : []))
}
