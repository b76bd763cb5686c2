import { isAbsolute } from 'node:path'
import { fileURLToPath } from 'node:url'
import { messageOf } from '../../core/errors.ts'
import { refuseUnknownOptions } from '../../core/options.ts'
import { type ByteSize, parseByteSize } from '../../core/text/byte-size.ts'
import { type Duration, parseDuration } from '../../core/time/duration.ts'
import { refuse } from '../names.ts'

/** Where an isolated handler runs: in a thread or in a process. */
export type IsolateKind = 'thread' | 'process'

/** Options of `isolate`: its memory, its module and its grace. */
export interface IsolateOptions {
  /** How much memory its JavaScript may take, such as `'256mb'`; what is over it fails the attempt. Node's own limit by default. */
  readonly memory?: ByteSize
  /** The module that defines the job: `import.meta.url`. By default what the command line loaded, or the program's main script. */
  readonly from?: string | URL
  /** How long the handler may go on after its signal was aborted, before it is killed. 1 second by default. */
  readonly grace?: Duration
}

/** Where a handler runs that can be killed. */
export interface Isolation {
  readonly kind: IsolateKind
  readonly memoryBytes: number | null
  /** An absolute path. */
  readonly from: string | null
  readonly graceMs: number
}

const optionNames = ['memory', 'from', 'grace']
const kinds: readonly unknown[] = ['thread', 'process']
/** With less, Node itself cannot start. */
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
    kinds.includes(kind) ? undefined : `isolate takes 'thread' or 'process', got ${JSON.stringify(kind)}`,
    memoryBytes === null || memoryBytes >= leastMemoryMb * 1024 ** 2
      ? undefined
      : `isolate.memory must be at least ${leastMemoryMb}mb, got ${memoryBytes} bytes`,
    from === null || isAbsolute(from)
      ? undefined
      : `isolate.from must be import.meta.url, a file: URL or an absolute path, got ${JSON.stringify(from)}`,
  ]
}

function pathOf(from: string | URL): string {
  try {
    return from instanceof URL || /^file:/.test(from) ? fileURLToPath(from) : String(from)
  } catch (thrown) {
    return `${from}: ${messageOf(thrown)}`
  }
}
