/** An answer that is there already, or comes later. */
export type Answer<Value> = Value | Promise<Value>

/**
 * Work that may have to wait for answers, written once for those who can wait and those who cannot:
 * `const value = yield* wait(answer)`.
 */
export type Steps<Value> = Generator<Answer<unknown>, Value, unknown>

export function* wait<Value>(answer: Answer<Value>): Steps<Value> {
  return (yield answer) as Value
}

/** Does the work at once for as long as the answers are there, and the rest of it when they come. */
export function answerOf<Value>(steps: Steps<Value>): Answer<Value> {
  for (let step = steps.next(); ; step = steps.next(step.value)) {
    if (step.done === true) return step.value
    if (step.value instanceof Promise) return later(steps, step.value)
  }
}

/** Does the work at once. Where it would have to wait, nothing more of it is done and this error is thrown. */
export function atOnce<Value>(steps: Steps<Value>, refusal: () => Error): Value {
  for (let step = steps.next(); ; step = steps.next(step.value)) {
    if (step.done === true) return step.value
    if (!(step.value instanceof Promise)) continue
    step.value.catch(() => {})
    steps.return(undefined as Value)
    throw refusal()
  }
}

async function later<Value>(steps: Steps<Value>, first: Promise<unknown>): Promise<Value> {
  let step: IteratorResult<Answer<unknown>, Value> = { done: false, value: first }
  while (step.done !== true) {
    let answer: unknown
    try {
      answer = await step.value
    } catch (thrown) {
      step = steps.throw(thrown)
      continue
    }
    step = steps.next(answer)
  }
  return step.value
}
