/**
 * Shared by both threads: whether the database thread is inside native code. A program that exits stops its threads wherever they
 * are, and the package for Node 20 aborts the process if that interrupts one of its calls.
 */
export class ThreadGate {
  readonly buffer: SharedArrayBuffer
  readonly #state: Int32Array

  constructor(buffer = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)) {
    this.buffer = buffer
    this.#state = new Int32Array(buffer)
  }

  /** For the thread, before a native call: false if none may begin any more. */
  enter(): boolean {
    return Atomics.compareExchange(this.#state, 0, outside, inside) === outside
  }

  leave(): void {
    if (Atomics.compareExchange(this.#state, 0, inside, outside) === inside) return
    Atomics.store(this.#state, 0, closed)
    Atomics.notify(this.#state, 0)
  }

  /** For the thread while outside: sleeps until the time is up or the gate closes. */
  pause(ms: number): void {
    Atomics.wait(this.#state, 0, outside, ms)
  }

  /** For other threads: no native call begins after this. Waits at most `patienceMs` for the one in progress to end. */
  close(patienceMs: number): void {
    // Try again if the thread entered or left between the two operations.
    while (Atomics.load(this.#state, 0) !== closed) {
      if (Atomics.compareExchange(this.#state, 0, outside, closed) === outside) Atomics.notify(this.#state, 0)
      else if (Atomics.compareExchange(this.#state, 0, inside, closing) !== outside) {
        Atomics.wait(this.#state, 0, closing, patienceMs)
        return
      }
    }
  }
}

const outside = 0
const inside = 1
/** The thread is inside, and closes the gate when it leaves. */
const closing = 2
const closed = 3
