import { LineSplitter } from '../core/text/lines.ts'
import { nextTurn } from '../core/time/clock.ts'
import type { OutputSink } from '../definition/job-logger.ts'

/**
 * What is printed in an isolate, as lines of the run that it is in. Output and messages come on different ways: what comes after the
 * end of a run is that run's until the next one begins.
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

  /** What was printed without a line break is given a moment to be followed by one. */
  async end(): Promise<void> {
    const streams = this.#streams
    this.#isOver = true
    await nextTurn()
    await nextTurn()
    if (this.#streams === streams) this.flush()
  }

  /** Nothing more will come. */
  flush(): void {
    this.#streams?.stdout.end()
    this.#streams?.stderr.end()
  }
}
