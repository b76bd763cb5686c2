/** A value that is available now or later. */
export type Answer<Value> = Value | Promise<Value>

/** Work that may have to wait, written once for synchronous and asynchronous callers: `const value = yield* wait(answer)`. */
export type Steps<Value> = Generator<Answer<unknown>, Value, unknown>

export function* wait<Value>(answer: Answer<Value>): Steps<Value> {
  return (yield answer) as Value
}

/** Runs synchronously as long as answers are available, and continues asynchronously from the first one that is not. */
export function answerOf<Value>(steps: Steps<Value>): Answer<Value> {
  for (let step = steps.next(); ; step = steps.next(step.value)) {
    if (step.done === true) return step.value
    if (step.value instanceof Promise) return later(steps, step.value)
  }
}

/** Runs synchronously. If it would have to wait, it stops there and throws this error. */
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
