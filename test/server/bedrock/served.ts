import { onTestFinished } from 'vitest'
import type { TreadleOptions } from '../../../src/app/treadle.ts'
import { openMemory } from '../../../src/engines/memory/index.ts'
import { serve } from '../../../src/server/serve.ts'
import type { ServeOptions } from '../../../src/server/serve-options.ts'
import { ManualClock } from '../../../src/testing/manual-clock.ts'
import { until, type World, worldOn } from '../../world.ts'
import { type WireClient, wireClient } from './wire.ts'

/** A reply, taken apart. */
export interface Told {
  readonly status: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** The body as JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: a test says what it expects of it
  readonly json: any
}

export interface Served extends World {
  readonly port: number
  client(): Promise<Client>
  /** Asks on a connection of its own, as a program does: with all that the server tells programs. */
  ask(verb: string, headers?: Readonly<Record<string, unknown>>): Promise<Told>
  /** The status alone. */
  status(verb: string, headers?: Readonly<Record<string, unknown>>): Promise<string>
  stop(graceMs?: number): Promise<void>
  /** Another server on the same queue. */
  restart(): Promise<Served>
}

export interface Client extends WireClient {
  /** Begins to wait for a job; resolves when the server knows. */
  wait(name: string, timeoutMs?: number): Promise<void>
  ask(verb: string, headers?: Readonly<Record<string, unknown>>): Promise<Told>
}

/** A job server on a queue in memory, on a clock that is moved by hand. */
export async function served(options: ServeOptions & { at?: number; program?: TreadleOptions } = {}): Promise<Served> {
  const { at, program, ...serveOptions } = options
  const clock = new ManualClock(at)
  return serving(worldOn(openMemory({ clock }), clock, program), serveOptions)
}

/** The same on any queue. */
export async function serving(world: World, serveOptions: ServeOptions): Promise<Served> {
  const { clock } = world
  const server = await serve(world.jobs, { port: 0, httpPort: null, ...serveOptions })
  const stop = async (graceMs = 0) => {
    let isStopped = false
    const stopping = server.stop({ graceMs }).then(() => {
      isStopped = true
    })
    await until(async () => {
      await clock.advance(100)
      return isStopped
    })
    await stopping
  }
  onTestFinished(() => stop())
  const port = server.address?.port as number
  const client = async (): Promise<Client> => {
    const wire = await wireClient(port)
    const ask = async (verb: string, headers: Readonly<Record<string, unknown>> = {}) => {
      wire.send(requestText(verb, headers))
      return told(await wire.reply())
    }
    const wait = async (name: string, timeoutMs = 600_000) => {
      // What comes in one piece is there as a whole when the first of it is answered.
      wire.send(`Ping\n\nGetJob\nname: ${name}\nconnection: wait\ntimeout: ${timeoutMs}\n\n`)
      await wire.reply()
      await clock.advance(0)
    }
    return Object.assign(wire, { ask, wait })
  }
  const first = await client()
  const ask = (verb: string, headers?: Readonly<Record<string, unknown>>) => first.ask(verb, headers)
  const status = async (verb: string, headers?: Readonly<Record<string, unknown>>) => (await ask(verb, headers)).status
  return { ...world, port, client, ask, status, stop, restart: () => serving(world, serveOptions) }
}

/** As libraries write it: objects as JSON with every backslash doubled. */
export function requestText(verb: string, headers: Readonly<Record<string, unknown>>): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${headerText(value)}\r\n`)
  return `${verb}\r\n${lines.join('')}writeConsistency: ASYNC\r\nContent-Length: 0\r\n\r\n`
}

function headerText(value: unknown): string {
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value)
  return text.replaceAll('\\', '\\\\')
}

export function told(reply: string): Told {
  const [head = '', body = ''] = reply.split('\r\n\r\n', 2)
  const [status = '', ...lines] = head.split('\r\n')
  const headers = Object.fromEntries(lines.map((line) => line.split(': ', 2) as [string, string]))
  return {
    status,
    headers,
    body: reply.slice(head.length + 4),
    json: body === '' ? null : JSON.parse(reply.slice(head.length + 4)),
  }
}
