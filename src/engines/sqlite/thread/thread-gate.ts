/**
 * What both threads see of the database's thread: whether it is inside of native code. A program that exits stops its threads
 * wherever they are, and the package for Node 20 aborts the process when that is inside of one of its calls.
 */
export class ThreadGate {
  readonly buffer: SharedArrayBuffer
  readonly #state: Int32Array

  constructor(buffer = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)) {
    this.buffer = buffer
    this.#state = new Int32Array(buffer)
  }

  /** For the thread, before a native call: false where none may begin any more. */
  enter(): boolean {
    return Atomics.compareExchange(this.#state, 0, outside, inside) === outside
  }

  leave(): void {
    if (Atomics.compareExchange(this.#state, 0, inside, outside) === inside) return
    Atomics.store(this.#state, 0, closed)
    Atomics.notify(this.#state, 0)
  }

  /** For the thread, which is outside: sleeps, or is woken when the gate closes. */
  pause(ms: number): void {
    Atomics.wait(this.#state, 0, outside, ms)
  }

  /** For everybody else: from here on no native call begins, and the one that is under way has ended, or takes too long. */
  close(patienceMs: number): void {
    // Again where the thread went in or came out between the two looks.
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
/** It is inside, and closes the gate when it comes out. */
const closing = 2
const closed = 3
