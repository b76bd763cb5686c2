import { type FileHandle, open } from 'node:fs/promises'
import { TreadleError } from '../../core/errors.ts'
import { syncFolderOf } from '../../core/files/durable-file.ts'
import { visibleJson } from '../../core/text/visible.ts'
import type { Target } from '../target.ts'
import { type FileEnd, type FileHeader, type FileLine, linesOf, readHeader, readLine, unitOf } from './lines.ts'
import { linesIn } from './reading.ts'

/** Writes an export. Each batch is written as a whole, and is on disk when the call resolves. */
export class ExportFile implements AsyncDisposable {
  readonly header: FileHeader
  readonly #write: (text: string) => Promise<unknown>
  readonly #close: () => Promise<void>
  #jobs: number
  #lines: number
  #lastPacked: string | null

  constructor(
    header: FileHeader,
    write: (text: string) => Promise<unknown>,
    close: () => Promise<void> = async () => {},
    state: Begun = fresh,
  ) {
    this.header = header
    this.#write = write
    this.#close = close
    this.#jobs = state.jobs
    this.#lines = state.lines
    this.#lastPacked = state.lastPacked
  }

  get jobs(): number {
    return this.#jobs
  }

  async begin(): Promise<void> {
    if (this.#lines > 0) return
    this.#lines = 1
    await this.#write(`${visibleJson(JSON.stringify(this.header))}\n`)
  }

  async write(lines: readonly FileLine[]): Promise<void> {
    if (lines.length === 0) return
    await this.#write(lines.map((line) => `${visibleJson(JSON.stringify(line))}\n`).join(''))
    this.#lines += lines.length
    this.#jobs += lines.reduce((sum, line) => sum + (unitOf(line)?.jobs.length ?? 0), 0)
  }

  async end(): Promise<void> {
    const end: FileEnd = { jobs: this.#jobs, lines: this.#lines + 1 }
    await this.write([{ end }])
  }

  /** For jobs that leave the queue: what is in the file is removed from the queue. */
  asTarget(): Target {
    return {
      cannotHold: [],
      identity: async () => `file:${this.header.id}`,
      learn: (facts) => this.write(facts.map((fact) => ({ fact }))),
      unpack: async (parcel) => {
        if (parcel.id === this.#lastPacked) return []
        await this.write([...linesOf(parcel), { packed: parcel.id }])
        this.#lastPacked = parcel.id
        return []
      },
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#close()
  }
}

/** How far an export has come. */
interface Begun {
  readonly jobs: number
  readonly lines: number
  readonly lastPacked: string | null
}

const fresh: Begun = { jobs: 0, lines: 0, lastPacked: null }

/** Creates a new file. With `mayGoOn`, an interrupted export is continued where its last parcel ended. */
export async function openExportFile(path: string, header: FileHeader, mayGoOn: boolean): Promise<ExportFile> {
  const handle = await create(path)
  if (handle !== null) {
    syncFolderOf(path)
    return writingTo(handle, header, fresh)
  }
  if (!mayGoOn) throw new TreadleError('CONFIG_INVALID', `The file ${path} already exists: name another one, or delete it`)
  const begun = await interruptedExport(path)
  const existing = await open(path, 'r+')
  await existing.truncate(begun.length)
  return writingTo(existing, begun.header, begun, begun.length)
}

async function create(path: string): Promise<FileHandle | null> {
  try {
    return await open(path, 'wx', 0o600)
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'EEXIST') return null
    throw thrown
  }
}

function writingTo(handle: FileHandle, header: FileHeader, begun: Begun, position = 0): ExportFile {
  let at = position
  const write = async (text: string) => {
    const bytes = Buffer.from(text)
    await handle.write(bytes, 0, bytes.length, at)
    at += bytes.length
    await handle.sync()
  }
  return new ExportFile(header, write, () => handle.close(), begun)
}

/** Everything after the last complete parcel is still in the queue. */
async function interruptedExport(path: string): Promise<Begun & { readonly header: FileHeader; readonly length: number }> {
  let header: FileHeader | undefined
  let state = { ...fresh, length: 0 }
  let jobs = 0
  for await (const { text, line, end, isWhole } of linesIn(path)) {
    if (!isWhole) break
    if (header === undefined) {
      header = readHeader(text)
      state = { jobs, lines: line, lastPacked: null, length: end }
      continue
    }
    const read = readLine(text, line)
    if ('end' in read) throw new TreadleError('CONFIG_INVALID', `The export in ${path} is complete: name another file`)
    jobs += unitOf(read)?.jobs.length ?? 0
    if ('packed' in read) state = { jobs, lines: line, lastPacked: read.packed, length: end }
  }
  if (header === undefined) throw new TreadleError('CONFIG_INVALID', `${path} is not an export of Treadle: name another file`)
  return { ...state, header }
}
