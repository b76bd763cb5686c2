import { createReadStream } from 'node:fs'
import { refuseSpecialFile } from '../../core/files/special-file.ts'
import { IdSet } from '../id-set.ts'
import { type FileHeader, type FileLine, invalid, readHeader, readLine, unitOf } from './lines.ts'

export interface NumberedLine {
  readonly text: string
  /** Starts at 1. */
  readonly line: number
  /** Where the next line begins, in bytes. */
  readonly end: number
  /** False for a last line without a line feed. */
  readonly isWhole: boolean
}

const lineFeed = 0x0a
/** A line is a job or a whole workflow. JavaScript has no texts of 512 MiB. */
const mostLineBytes = 256 * 1024 * 1024

/** Streams the lines of a file. Memory use is bounded by the longest line. */
export async function* linesIn(path: string): AsyncGenerator<NumberedLine> {
  let parts: Buffer[] = []
  let line = 1
  let end = 0
  let partBytes = 0
  for await (const chunk of createReadStream(path, { highWaterMark: 1 << 18 }) as AsyncIterable<Buffer>) {
    let from = 0
    for (let at = chunk.indexOf(lineFeed); at >= 0; at = chunk.indexOf(lineFeed, from)) {
      parts.push(chunk.subarray(from, at))
      end += at - from + 1
      yield { text: Buffer.concat(parts).toString(), line: line++, end, isWhole: true }
      parts = []
      from = at + 1
    }
    parts.push(chunk.subarray(from))
    end += chunk.length - from
    partBytes = from === 0 ? partBytes + chunk.length : chunk.length - from
    if (partBytes > mostLineBytes) throw invalid(line, `it is longer than ${mostLineBytes} bytes`)
  }
  const rest = Buffer.concat(parts)
  if (rest.length > 0) yield { text: rest.toString(), line, end, isWhole: false }
}

export interface SoundFile {
  readonly header: FileHeader
  readonly jobs: number
  readonly lines: number
}

/** Reads the whole file, and refuses it if anything in it is wrong. */
export async function checkedFile(path: string): Promise<SoundFile> {
  // It is read twice, which a pipe cannot be.
  refuseSpecialFile(path)
  const ids = new IdSet()
  let header: FileHeader | undefined
  let jobs = 0
  let last = 0
  let isEnded = false
  for await (const { text, line, isWhole } of linesIn(path)) {
    last = line
    if (isEnded) throw invalid(line, 'there are lines after the last one')
    if (!isWhole) throw invalid(line, 'it is truncated: there is no line feed at its end')
    if (header === undefined) {
      header = readHeader(text)
      continue
    }
    const read = readLine(text, line)
    for (const { id } of unitOf(read)?.jobs ?? []) {
      if (!ids.add(id)) throw invalid(line, `job ${id} is in the file twice`)
      jobs++
    }
    if ('end' in read) {
      refuseOtherCounts(read.end, jobs, line)
      isEnded = true
    }
  }
  if (header === undefined) throw invalid(1, 'the file is empty')
  if (!isEnded) throw invalid(last, 'the file ends without its last line: it was truncated, or the export was interrupted')
  return { header, jobs, lines: last }
}

function refuseOtherCounts(end: Extract<FileLine, { end: unknown }>['end'], jobs: number, line: number): void {
  if (end.jobs === jobs && end.lines === line) return
  throw invalid(line, `there should be ${end.jobs} jobs in ${end.lines} lines, and there are ${jobs} in ${line}`)
}
