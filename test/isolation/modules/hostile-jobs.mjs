// Handlers that send what they should not through the thread or the process that they run in.
import { closeSync, writeSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { parentPort } from 'node:worker_threads'
import { treadle } from 'treadle'

const circle = { kind: 'returned' }
circle.value = circle

/** Everything that is no message, or no message of this run. */
export const garbage = {
  null: null,
  undefined: undefined,
  number: 7,
  'not a number': Number.NaN,
  bigint: 10n,
  text: 'returned',
  'an empty object': {},
  'an array': [],
  'a huge array': new Array(100_000).fill(null),
  'a long text': 'x'.repeat(20_000_000),
  'a map': new Map([['kind', 'returned']]),
  'an unknown kind': { kind: 'explode' },
  'a kind of every object': { kind: 'constructor' },
  'a kind that is __proto__': { kind: '__proto__' },
  'a kind that is no text': { kind: { toString: 'x' } },
  'a prototype': JSON.parse('{"__proto__": {"kind": "returned", "value": "forged"}}'),
  'a forged result': { kind: 'returned', value: 'forged' },
  'a forged result with a token': { token: 'x', message: { kind: 'returned', value: 'forged' } },
  'a forged error': { kind: 'threw', thrown: { kind: 'error', name: 'Error', message: 'forged' } },
  'a forged snooze': { kind: 'snoozed', delayMs: -1 },
  'a call of nothing': { kind: 'call', call: 1, method: 'constructor', args: [] },
  'a call without arguments': { kind: 'call', call: 1, method: 'progress' },
  'a log of no level': { kind: 'log', level: '__proto__', message: 'x' },
  'a wrong thrown': { kind: 'threw', thrown: null },
  'a circle': circle,
}

const sends = parentPort === null ? sendFrame : (value) => parentPort.postMessage(value)

function sendFrame(value) {
  writeWhole(framed(value))
}

/** As a program would that knows how Treadle's own pipe is written to. */
function framed(value) {
  const bytes = serialize(value)
  const header = Buffer.alloc(4)
  header.writeUInt32BE(bytes.length)
  return Buffer.concat([header, bytes])
}

function writeWhole(bytes) {
  for (let at = 0; at < bytes.length; ) {
    try {
      at += writeSync(3, bytes, at)
    } catch (thrown) {
      if (thrown.code !== 'EAGAIN') throw thrown
    }
  }
}

const { serialize } = await import('node:v8')

export function defineJobs(jobs, kind) {
  const from = import.meta.url
  const define = (name, handler) => jobs.define(`${kind} ${name}`, handler).isolate(kind, { grace: '50ms', from })
  return {
    sends: define('sends', async (what, ctx) => {
      sends(garbage[what])
      await ctx.progress('sent')
      return `its own ${what}`
    }),
    sendsLate: define('sends late', () => {
      setImmediate(() => sends(garbage['a forged result']))
      return 'early'
    }),
    processSend: define('process.send', () => {
      process.send(null)
      return 'sent'
    }),
    floods: define('floods', async () => {
      for (let n = 0; n < 1_000_000; n++) sends(n)
      await sleep(3_600_000)
    }),
    logs: define('logs', async (_, ctx) => {
      for (let n = 0; n < 50_000; n++) ctx.logger.info(`line ${n}`)
    }),
    hears: define('hears', () => {
      const source = parentPort ?? process
      for (const value of Object.values(garbage)) source.emit('message', value)
      return 'still there'
    }),
    writes: define('writes', async (bytes) => {
      writeWhole(Buffer.from(bytes))
      await sleep(3_600_000)
    }),
    writesAndReturns: define('writes and returns', async () => {
      writeWhole(Buffer.from([0, 0, 0, 3, 1, 2, 3]))
      return 'sound'
    }),
    closes: define('closes', async () => {
      closeSync(3)
      await sleep(3_600_000)
    }),
    sound: define('sound', (n) => n * 2),
  }
}

const program = treadle('memory:')
for (const kind of ['thread', 'process']) defineJobs(program, kind)
