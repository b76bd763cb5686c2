/** The next occurrence, then the one after it, and so on, some way into the future, and from the beginning again. */
export async function measure({ open, asked, from, first, steps, lastingMs }) {
  const next = open(asked)
  const start = Date.parse(from)
  refuseOther(next, start, first)
  const lap = () => {
    let at = start
    for (let step = 0; step < steps; step++) at = next(at)
  }
  lapsPerSecond(lap, lastingMs / 4)
  return { rate: steps * lapsPerSecond(lap, lastingMs) }
}

/** How fast a wrong answer is found does not matter. */
function refuseOther(next, start, first) {
  let at = start
  for (const expected of first) {
    at = next(at)
    if (at !== Date.parse(expected)) throw new Error(`found ${new Date(at).toISOString()} instead of ${expected}`)
  }
}

/** Not a number of laps that is the same for all: some would be over before the machine is warm. */
function lapsPerSecond(lap, lastingMs) {
  const start = performance.now()
  let laps = 0
  let elapsedMs = 0
  while (elapsedMs < lastingMs) {
    lap()
    laps++
    elapsedMs = performance.now() - start
  }
  return (laps / elapsedMs) * 1000
}
