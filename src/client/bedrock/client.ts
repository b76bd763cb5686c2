import type { ConnectionOptions } from 'node:tls'
import { TreadleError } from '../../core/errors.ts'
import { refuseUnknownOptions, refuseWrongSignal } from '../../core/options.ts'
import { parseExact, unmarked } from '../../core/text/exact-json.ts'
import { type Json, toJson } from '../../core/text/json.ts'
import { shown } from '../../core/text/shown.ts'
import { type Clock, pause, systemClock } from '../../core/time/clock.ts'
import { type Duration, parseDuration } from '../../core/time/duration.ts'
import { BedrockConnection } from './connection.ts'
import type {
  BedrockFinish,
  BedrockJob,
  BedrockJobChanges,
  BedrockJobState,
  BedrockPriority,
  BedrockRequeue,
  BedrockRetry,
  NewBedrockJob,
} from './job.ts'
import { BedrockRefusal } from './refusal.ts'
import { type BedrockHeaders, type BedrockResponse, requestText } from './wire.ts'

/** Where the job server is, and how to sign in. */
export interface BedrockClientOptions {
  readonly host?: string
  readonly port?: number
  /** True, or options for `tls.connect`. */
  readonly tls?: boolean | ConnectionOptions
  readonly token?: string
  /** How long a request may take, in addition to the time it waits for a job. */
  readonly timeout?: Duration
  readonly clock?: Clock
}

/** Options of a call to the server. */
export interface BedrockCallOptions {
  readonly signal?: AbortSignal
}

/** Options for claiming jobs: how long to wait, and at which priority. */
export interface BedrockGetOptions extends BedrockCallOptions {
  /** How long to wait if there is no job; `true` waits indefinitely. */
  readonly wait?: Duration | true
  readonly jobPriority?: BedrockPriority
}

/** A client of a job server that speaks the Bedrock protocol: `treadle serve`, or Bedrock itself. */
export function bedrockClient(options: BedrockClientOptions = {}): BedrockClient {
  return new BedrockClient(options)
}

const known = ['host', 'port', 'tls', 'token', 'timeout', 'clock']
const defaultPort = 8888
const defaultTimeout = '110s'
const maxDataBytes = 16 * 1024 * 1024
/** How long each request of an indefinite wait lasts, so that a lost server is noticed. */
const roundMs = 60_000
const restMs = 1_000

/** Requests share one connection and are sent one after the other, so one that waits for a job delays the others. */
export class BedrockClient implements AsyncDisposable {
  readonly #connection: BedrockConnection
  readonly #token: string | undefined
  readonly #timeoutMs: number
  readonly #clock: Clock
  readonly #parse: (text: string) => unknown

  /** An exact client keeps large numbers as they are, for a program that passes them on: see `exact-json.ts`. */
  constructor(options: BedrockClientOptions = {}, { isExact = false }: { readonly isExact?: boolean } = {}) {
    refuseUnknownOptions(options, known, 'The client of a job server')
    const { host = '127.0.0.1', port = defaultPort, tls = false, timeout = defaultTimeout, clock = systemClock } = options
    if (!Number.isInteger(port) || port < 1 || port > 65_535) {
      throw new TreadleError('CONFIG_INVALID', `The client of a job server: port must be from 1 to 65535, got ${shown(port)}`)
    }
    this.#connection = new BedrockConnection({ host, port, tls: tls === true ? {} : tls || undefined }, clock)
    this.#token = options.token
    this.#timeoutMs = parseDuration(timeout, 'timeout')
    this.#clock = clock
    this.#parse = isExact ? parseExact : JSON.parse
  }

  /** Returns the id of the new job, or of the existing job if it is unique. */
  async createJob(job: NewBedrockJob, options?: BedrockCallOptions): Promise<number> {
    const headers = { ...job, data: optionalJson(job.data), unique: job.unique === true ? true : undefined }
    return (await this.#json<{ jobID: number }>('CreateJob', headers, options)).jobID
  }

  /** Creates all of them, or none. */
  async createJobs(jobs: readonly NewBedrockJob[], options?: BedrockCallOptions): Promise<readonly number[]> {
    return (await this.#json<{ jobIDs: readonly number[] }>('CreateJobs', { jobs: json(jobs) }, options)).jobIDs
  }

  /** Returns the first job whose name matches the pattern; undefined if there is none within the wait. */
  async getJob(name: string, options: BedrockGetOptions = {}): Promise<BedrockJob | undefined> {
    const job = await this.#get('GetJob', { name }, options)
    return job !== undefined && 'jobID' in job ? (job as BedrockJob) : undefined
  }

  async getJobs(name: string, numResults: number, options: BedrockGetOptions = {}): Promise<readonly BedrockJob[]> {
    const answer = await this.#get('GetJobs', { name, numResults }, options)
    return (answer as { jobs: readonly BedrockJob[] } | undefined)?.jobs ?? []
  }

  async updateJob(jobID: number, changes: BedrockJobChanges, options?: BedrockCallOptions): Promise<void> {
    const { data, shouldClearRepeat, ...others } = changes
    // The protocol knows no other word for true here.
    const cleared = shouldClearRepeat === true ? 1 : undefined
    await this.#ask('UpdateJob', { jobID, ...others, data: optionalJson(data), shouldClearRepeat: cleared }, options)
  }

  /** Undefined if there is no such job. */
  async queryJob(jobID: number, options?: BedrockCallOptions): Promise<BedrockJobState | undefined> {
    const response = await this.request('QueryJob', { jobID }, options)
    return response.status === 404 ? undefined : this.#parsed<BedrockJobState>('QueryJob', response)
  }

  async finishJob(jobID: number, changes: BedrockFinish = {}, options?: BedrockCallOptions): Promise<void> {
    await this.#ask('FinishJob', { jobID, ...changes, data: optionalJson(changes.data) }, options)
  }

  async retryJob(jobID: number, retry: BedrockRetry = {}, options?: BedrockCallOptions): Promise<void> {
    await this.#ask('RetryJob', { jobID, ...retry, data: optionalJson(retry.data) }, options)
  }

  async failJob(jobID: number, changes: { readonly data?: Json } = {}, options?: BedrockCallOptions): Promise<void> {
    await this.#ask('FailJob', { jobID, data: optionalJson(changes.data) }, options)
  }

  /** Cancels a child job that no worker has claimed. */
  async cancelJob(jobID: number, options?: BedrockCallOptions): Promise<void> {
    await this.#ask('CancelJob', { jobID }, options)
  }

  async deleteJob(jobID: number, options?: BedrockCallOptions): Promise<void> {
    await this.#ask('DeleteJob', { jobID }, options)
  }

  async requeueJobs(jobIDs: readonly number[], changes: BedrockRequeue = {}, options?: BedrockCallOptions): Promise<void> {
    await this.#ask('RequeueJobs', { jobIDs: jobIDs.join(','), ...changes }, options)
  }

  async ping(options?: BedrockCallOptions): Promise<void> {
    await this.#ask('Ping', {}, options)
  }

  status(options?: BedrockCallOptions): Promise<Readonly<Record<string, Json>>> {
    return this.#json('Status', {}, options)
  }

  /** Runs a SELECT on the table `jobs`. */
  query(sql: string, options?: BedrockCallOptions): Promise<{ readonly headers: readonly string[]; readonly rows: Json[][] }> {
    return this.#json('Query', { query: /;\s*$/.test(sql) ? sql : `${sql};`, format: 'json' }, options)
  }

  /** Sends any request. Returns every response, whatever its status. */
  request(
    method: string,
    headers: BedrockHeaders = {},
    options: BedrockCallOptions & { readonly waitMs?: number } = {},
  ): Promise<BedrockResponse> {
    refuseWrongSignal(options.signal, method)
    const text = requestText(method, { token: this.#token, ...headers })
    return this.#connection.ask(text, this.#timeoutMs, options.waitMs ?? 0, options.signal)
  }

  close(): void {
    this.#connection.close()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.close()
  }

  async #get(method: string, headers: BedrockHeaders, options: BedrockGetOptions): Promise<object | undefined> {
    const { wait = 0, jobPriority, signal } = options
    const asked = { ...headers, jobPriority }
    if (wait !== true) return this.#round(method, asked, parseDuration(wait, 'wait'), signal)
    for (;;) {
      const startedAt = this.#clock.now()
      const found = await this.#round(method, asked, roundMs, signal)
      if (found !== undefined) return found
      // A server that is shutting down answers at once: pause before asking again.
      if (this.#clock.now() - startedAt < restMs) await pause(this.#clock, restMs, signal)
    }
  }

  async #round(method: string, headers: BedrockHeaders, waitMs: number, signal?: AbortSignal): Promise<object | undefined> {
    const waiting = waitMs > 0 ? { Connection: 'wait', timeout: waitMs } : {}
    const called = { waitMs, ...(signal !== undefined && { signal }) }
    const response = await this.request(method, { ...headers, ...waiting }, called)
    const isNone = response.status === 404 || response.status === 303 || (response.status === 555 && waitMs > 0)
    return isNone ? undefined : this.#parsed<object>(method, response)
  }

  async #json<Answer>(method: string, headers: BedrockHeaders, options?: BedrockCallOptions): Promise<Answer> {
    return this.#parsed<Answer>(method, await this.request(method, headers, options))
  }

  #parsed<Answer>(method: string, response: BedrockResponse): Answer {
    const { body } = succeeded(method, response)
    try {
      return this.#parse(body) as Answer
    } catch (cause) {
      throw new TreadleError('SERVER_UNREACHABLE', `What the job server answered to ${method} is not JSON`, { cause })
    }
  }

  async #ask(method: string, headers: BedrockHeaders, options?: BedrockCallOptions): Promise<BedrockResponse> {
    return succeeded(method, await this.request(method, headers, options))
  }
}

function succeeded(method: string, response: BedrockResponse): BedrockResponse {
  if (response.status < 200 || response.status > 299) throw new BedrockRefusal(method, response)
  return response
}

function json(value: unknown): string {
  return unmarked(toJson(value, { what: 'data of a job', maxBytes: maxDataBytes }))
}

function optionalJson(value: unknown): string | undefined {
  return value === undefined ? undefined : json(value)
}
