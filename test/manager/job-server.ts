import type { BedrockPeer } from '../../src/server/bedrock/connections/peer.ts'
import type { BedrockReply } from '../../src/server/bedrock/wire/reply.ts'
import type { BedrockRequest } from '../../src/server/bedrock/wire/request.ts'
import { glob } from '../../src/server/jobs/glob.ts'
import { type Ground, listening } from '../server/bedrock/wire.ts'
import { until } from '../world.ts'

export interface EndedJob {
  readonly how: string
  readonly data: unknown
  readonly delay: string | undefined
  readonly ignoreRepeat: string | undefined
}

interface StoredJob {
  readonly name: string
  /** What is handed out. */
  readonly text: string
}

/** Just enough of a job server to hand out jobs and hear how they ended. */
export class JobServer {
  readonly ended = new Map<number, EndedJob>()
  /** The data that jobs were ended with, as it came. */
  readonly texts = new Map<number, string | undefined>()
  /** What is answered to the next ends instead. */
  readonly refusals: BedrockReply[] = []
  readonly asked: string[] = []
  /** What is answered to those who ask for jobs instead. */
  turnsAway: BedrockReply | undefined
  /** Hands out whatever there is. */
  ignoresPatterns = false
  /** What those who asked have shown. */
  readonly tokens = new Set<string | undefined>()
  #ground: Ground | undefined
  #waiting: StoredJob[] = []
  #wake = () => {}
  #last = 0

  static async start(): Promise<JobServer> {
    const server = new JobServer()
    server.#ground = await listening({ answer: (request, peer) => server.#answer(request, peer) })
    return server
  }

  get port(): number {
    return this.#ground?.listener.address.port as number
  }

  add(name: string, data: unknown = {}): number {
    return this.addText(name, JSON.stringify(data))
  }

  /** A job whose data is this JSON text. */
  addText(name: string, data: string): number {
    this.#waiting.push({ name, text: `{"jobID":${++this.#last},"name":${JSON.stringify(name)},"data":${data}}` })
    this.#wake()
    return this.#last
  }

  get isAsked(): boolean {
    return this.asked.length > 0
  }

  async endOf(jobID: number): Promise<EndedJob> {
    await until(() => this.ended.has(jobID))
    return this.ended.get(jobID) as EndedJob
  }

  async #answer({ verb, headers }: BedrockRequest, peer: BedrockPeer): Promise<BedrockReply> {
    this.tokens.add(headers.get('token'))
    if (verb === 'getjobs' && this.turnsAway !== undefined) return this.turnsAway
    if (verb === 'getjobs') return this.#handOut(headers, peer)
    const refusal = this.refusals.shift()
    if (refusal !== undefined) return refusal
    const data = headers.get('data')
    const end = {
      how: verb,
      data: data === undefined ? undefined : JSON.parse(data),
      delay: headers.get('delay'),
      ignoreRepeat: headers.get('ignorerepeat'),
    }
    this.texts.set(Number(headers.get('jobid')), data)
    this.ended.set(Number(headers.get('jobid')), end)
    return { code: 200, text: 'OK' }
  }

  async #handOut(headers: ReadonlyMap<string, string>, peer: BedrockPeer): Promise<BedrockReply> {
    const wanted = glob(headers.get('name') ?? '')
    const fits = (name: string) => this.ignoresPatterns || wanted(name)
    this.asked.push(headers.get('numresults') ?? '')
    for (;;) {
      const found = this.#waiting.filter(({ name }) => fits(name)).slice(0, Number(headers.get('numresults')))
      this.#waiting = this.#waiting.filter((job) => !found.includes(job))
      const undelivered = () => void this.#waiting.push(...found)
      if (found.length > 0)
        return { code: 200, text: 'OK', body: `{"jobs":[${found.map(({ text }) => text).join()}]}`, undelivered }
      if (headers.get('connection') !== 'wait' || peer.closing.aborted) return { code: 404, text: 'No job found' }
      await new Promise<void>((resolve) => {
        this.#wake = resolve
        peer.closing.addEventListener('abort', () => resolve())
      })
    }
  }
}
