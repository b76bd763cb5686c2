import { TreadleError } from '../../../core/errors.ts'
import type { Reply } from './reply-reader.ts'
import type { Session } from './session.ts'

/** A job as the server returns it. The id is the server's, not the job's own. */
export interface ServerJob {
  readonly serverId: string
  readonly body: Buffer
}

export interface PutSettings {
  /** Lower is more urgent. */
  readonly pri: number
  /** Whole seconds. */
  readonly delay: number
  /** Whole seconds. How long a reservation lasts unless its owner touches the job. */
  readonly ttr: number
}

/** The server's counters for a job. */
export interface ServerStats {
  readonly state: string
  readonly pri: number
  readonly ttr: number
  readonly reserves: number
  readonly releases: number
  readonly buries: number
  readonly kicks: number
}

/** Puts a job into the tube that the session uses and returns the server's id for it. */
export async function put(session: Session, { pri, delay, ttr }: PutSettings, body: string | Uint8Array): Promise<string> {
  const reply = await session.ask(`put ${pri} ${delay} ${ttr}`, body)
  if (reply.word === 'INSERTED') return reply.args[0] as string
  if (reply.word === 'JOB_TOO_BIG') throw tooBig(Buffer.byteLength(body), null)
  const why = putRefusals[reply.word]
  throw why === undefined ? unexpected('put', reply) : new TreadleError('DATABASE_UNWRITABLE', why)
}

/** The server goes on handing out the jobs that it has, and lets them end. */
const putRefusals: Readonly<Record<string, string>> = {
  DRAINING: 'Beanstalkd is draining and takes no more jobs: it is about to be stopped',
  OUT_OF_MEMORY: 'Beanstalkd takes no more jobs: it has no memory left, or no space for its binlog',
}

/** Whether the server takes no more jobs. */
export function isPutRefused(thrown: unknown): boolean {
  return thrown instanceof TreadleError && thrown.code === 'DATABASE_UNWRITABLE'
}

export function tooBig(bytes: number, limit: number | null): TreadleError {
  const most = limit === null ? '' : ` of at most ${limit}`
  const message = `A job of ${bytes} bytes is larger than Beanstalkd takes${most}: start it with a larger limit (beanstalkd -z BYTES), or dispatch less and keep the rest elsewhere`
  return new TreadleError('PAYLOAD_TOO_LARGE', message)
}

/** The next job of the watched tubes; null if there is none within the timeout. */
export async function reserve(session: Session, timeoutSeconds = 0): Promise<ServerJob | null> {
  const reply = await session.ask(`reserve-with-timeout ${timeoutSeconds}`, null, timeoutSeconds * 1_000)
  if (reply.word === 'RESERVED') return jobOf(reply)
  // DEADLINE_SOON: a job held by this session expires within a second, and no other job is available.
  if (reply.word === 'TIMED_OUT' || reply.word === 'DEADLINE_SOON') return null
  throw unexpected('reserve', reply)
}

/** Reserves this particular job, whether ready, delayed or buried; false if it is not available. */
export async function reserveJob(session: Session, serverId: string): Promise<boolean> {
  const reply = await session.ask(`reserve-job ${serverId}`)
  if (reply.word === 'RESERVED') return true
  if (reply.word === 'NOT_FOUND') return false
  throw reply.word === 'UNKNOWN_COMMAND' ? tooOld() : unexpected('reserve-job', reply)
}

function tooOld(): TreadleError {
  return new TreadleError(
    'CAPABILITY_MISSING',
    'This Beanstalkd is older than 1.12, which is the first with reserve-job: update it',
  )
}

/** Runs a command that reports whether the job exists and this session may change it. */
async function change(session: Session, command: string, done: string): Promise<boolean> {
  const reply = await session.ask(command)
  if (reply.word === done) return true
  if (reply.word === 'NOT_FOUND') return false
  throw unexpected(command, reply)
}

export const deleteJob = (session: Session, serverId: string) => change(session, `delete ${serverId}`, 'DELETED')
export const touch = (session: Session, serverId: string) => change(session, `touch ${serverId}`, 'TOUCHED')
export const bury = (session: Session, serverId: string, pri: number) => change(session, `bury ${serverId} ${pri}`, 'BURIED')

export function release(session: Session, serverId: string, pri: number, delay: number): Promise<boolean> {
  return change(session, `release ${serverId} ${pri} ${delay}`, 'RELEASED')
}

/** Reads a job without reserving it, whoever holds it; null if there is none. */
export async function peek(session: Session, what: string): Promise<ServerJob | null> {
  const reply = await session.ask(what)
  if (reply.word === 'FOUND') return jobOf(reply)
  if (reply.word === 'NOT_FOUND') return null
  throw unexpected(what, reply)
}

/** Null if the job no longer exists. */
export async function statsJob(session: Session, serverId: string): Promise<ServerStats | null> {
  const text = await statistics(session, `stats-job ${serverId}`)
  if (text === null) return null
  const number = (name: string) => Number(lineOf(text, name) ?? 0)
  return {
    state: statistic(text, 'state') ?? '',
    pri: number('pri'),
    ttr: number('ttr'),
    reserves: number('reserves'),
    releases: number('releases'),
    buries: number('buries'),
    kicks: number('kicks'),
  }
}

/** The server's YAML answer; null if the subject does not exist. */
export async function statistics(session: Session, command: string): Promise<string | null> {
  const reply = await session.ask(command)
  if (reply.word === 'OK') return (reply.body as Buffer).toString('latin1')
  if (reply.word === 'NOT_FOUND') return null
  throw unexpected(command, reply)
}

/** One entry of that YAML; each is on a line of its own. */
export function statistic(yaml: string, name: string): string | undefined {
  return lineOf(yaml, name)?.replace(/^"(.*)"$/, '$1')
}

function lineOf(yaml: string, name: string): string | undefined {
  const start = yaml.indexOf(`\n${name}: `)
  if (start < 0) return undefined
  const from = start + name.length + 3
  return yaml.slice(from, yaml.indexOf('\n', from))
}

export async function listTubes(session: Session): Promise<readonly string[]> {
  const text = (await statistics(session, 'list-tubes')) ?? ''
  return [...text.matchAll(/^- (.*)$/gm)].map(([, tube]) => tube as string)
}

function unexpected(command: string, { word, args }: Reply): TreadleError {
  return new TreadleError('DATABASE_FAILED', `Beanstalkd answered "${[word, ...args].join(' ')}" to "${command}"`)
}

function jobOf({ args, body }: Reply): ServerJob {
  return { serverId: args[0] as string, body: body as Buffer }
}
