import { TreadleError } from '../../../core/errors.ts'

/** A reply of the server: `INSERTED 12`, or `RESERVED 12 5` with the five bytes that follow it. */
export interface Reply {
  readonly word: string
  readonly args: readonly string[]
  /** The bytes of a job or of statistics; null for a reply of a single line. */
  readonly body: Buffer | null
}

/** Replies that are followed by as many bytes as their last argument says. */
const withBody: ReadonlySet<string> = new Set(['RESERVED', 'FOUND', 'OK'])

/** Maximum line length of the protocol; a peer that sends more without a line break is not Beanstalkd. */
const longestLine = 1_024
const newline = 0x0a
const lineEnd = '\r\n'

/** Parses the byte stream of a connection into replies, however the network splits it. */
export class ReplyReader {
  #rest: Buffer = Buffer.alloc(0)

  /** Returns the replies that are now complete. */
  read(bytes: Buffer): readonly Reply[] {
    const data = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes])
    const replies: Reply[] = []
    let at = 0
    for (;;) {
      const end = data.indexOf(newline, at)
      if (end < 0) break
      const [word = '', ...args] = lineOf(data, at, end).split(' ')
      const bodyStart = end + 1
      if (!withBody.has(word)) {
        replies.push({ word, args, body: null })
        at = bodyStart
        continue
      }
      const bodyEnd = bodyStart + sizeOf(word, args)
      if (data.length < bodyEnd + lineEnd.length) break
      if (data.toString('latin1', bodyEnd, bodyEnd + lineEnd.length) !== lineEnd) throw notBeanstalkd(`${word} without its end`)
      replies.push({ word, args, body: data.subarray(bodyStart, bodyEnd) })
      at = bodyEnd + lineEnd.length
    }
    this.#rest = data.subarray(at)
    if (this.#rest.length > longestLine && this.#rest.indexOf(newline) < 0) throw notBeanstalkd('a line without an end')
    return replies
  }
}

function lineOf(data: Buffer, from: number, end: number): string {
  if (end === from || data[end - 1] !== 0x0d) throw notBeanstalkd('a line that does not end with CR LF')
  return data.toString('latin1', from, end - 1)
}

function sizeOf(word: string, args: readonly string[]): number {
  const text = args.at(-1) ?? ''
  if (!/^\d{1,10}$/.test(text)) throw notBeanstalkd(`${word} without a size`)
  return Number(text)
}

function notBeanstalkd(what: string): TreadleError {
  return new TreadleError('DATABASE_FAILED', `The server does not speak the protocol of Beanstalkd: it sent ${what}`)
}
