import { LineSplitter } from '../core/text/lines.ts'
import { nextTurn } from '../core/time/clock.ts'
import type { OutputSink } from '../definition/job-logger.ts'

/**
 * Assigns the output of an isolate to the run that printed it. Output and messages arrive through different channels, so output
 * that arrives after the end of a run still belongs to that run until the next one begins.
 */
export class RunOutput {
  #isOver = false
  #streams: Readonly<Record<'stdout' | 'stderr', LineSplitter>> | undefined

  begin(sink: OutputSink | undefined): void {
    this.flush()
    this.#isOver = false
    this.#streams =
      sink === undefined
        ? undefined
        : { stdout: new LineSplitter((line) => sink('stdout', line)), stderr: new LineSplitter((line) => sink('stderr', line)) }
  }

  write(stream: 'stdout' | 'stderr', chunk: Buffer): void {
    this.#streams?.[stream].write(chunk)
    if (this.#isOver) void this.end()
  }

  /** Briefly waits for the rest of a line that has no line break yet. */
  async end(): Promise<void> {
    const streams = this.#streams
    this.#isOver = true
    await nextTurn()
    await nextTurn()
    if (this.#streams === streams) this.flush()
  }

  /** Emits incomplete lines, because nothing more will come. */
  flush(): void {
    this.#streams?.stdout.end()
    this.#streams?.stderr.end()
  }
}
