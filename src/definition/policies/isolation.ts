import { isAbsolute } from 'node:path'
import { fileURLToPath } from 'node:url'
import { messageOf } from '../../core/errors.ts'
import { refuseUnknownOptions } from '../../core/options.ts'
import { type ByteSize, parseByteSize } from '../../core/text/byte-size.ts'
import { shown } from '../../core/text/shown.ts'
import { type Duration, parseDuration } from '../../core/time/duration.ts'
import { refuse } from '../names.ts'

/** Where an isolated handler runs: in a worker thread or in a child process. */
export type IsolateKind = 'thread' | 'process'

/** Options of `isolate`. */
export interface IsolateOptions {
  /** Maximum JavaScript heap, such as `'256mb'`; exceeding it fails the attempt. Defaults to Node's own limit. */
  readonly memory?: ByteSize
  /**
   * The module that defines the job: `import.meta.url`. Defaults to the file loaded by the command line, or else to the program's
   * main script.
   */
  readonly from?: string | URL
  /** How long the handler may keep running after its signal is aborted before it is killed. Defaults to 1 second. */
  readonly grace?: Duration
}

/** The parsed options of `isolate`. */
export interface Isolation {
  readonly kind: IsolateKind
  readonly memoryBytes: number | null
  /** An absolute path. */
  readonly from: string | null
  readonly graceMs: number
}

const optionNames = ['memory', 'from', 'grace']
const kinds: readonly unknown[] = ['thread', 'process']
/** Node itself cannot start with less. */
const leastMemoryMb = 16

export function isolationOf(job: string, kind: IsolateKind, options: IsolateOptions): Isolation {
  const subject = `Job "${job}"`
  refuseUnknownOptions(options, optionNames, `${subject}: isolate`)
  const { memory, from, grace = '1s' } = options
  const memoryBytes = memory === undefined ? null : parseByteSize(memory, `${subject}: isolate.memory`)
  const isolation = {
    kind,
    memoryBytes,
    from: from === undefined ? null : pathOf(from),
    graceMs: parseDuration(grace, `${subject}: isolate.grace`),
  }
  refuse(subject, isolationProblems(isolation))
  return isolation
}

export function isolationProblems({ kind, memoryBytes, from }: Isolation): readonly (string | undefined)[] {
  return [
    kinds.includes(kind) ? undefined : `isolate takes 'thread' or 'process', got ${shown(kind)}`,
    memoryBytes === null || memoryBytes >= leastMemoryMb * 1024 ** 2
      ? undefined
      : `isolate.memory must be at least ${leastMemoryMb}mb, got ${memoryBytes} bytes`,
    from === null || isAbsolute(from)
      ? undefined
      : `isolate.from must be import.meta.url, a file: URL or an absolute path, got ${shown(from)}`,
  ]
}

function pathOf(from: string | URL): string {
  try {
    return from instanceof URL || /^file:/.test(from) ? fileURLToPath(from) : String(from)
  } catch (thrown) {
    return `${from}: ${messageOf(thrown)}`
  }
}
