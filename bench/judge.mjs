/**
 * Holds the medians against the bars; a bar whose figures were not measured is left out.
 *
 * @param {readonly import('./plan.mjs').Bar[]} bars
 * @param {readonly Awaited<ReturnType<typeof import('./rounds.mjs').measureRow>>[]} results
 */
export function judge(bars, results) {
  return bars.flatMap((bar) => {
    const result = results.find(({ id }) => id === bar.row)
    const ours = result?.medians[bar.of]?.[bar.figure]
    const best = bar.against === undefined ? undefined : bestOf([bar.against].flat(), bar.figure, result?.medians)
    if (ours === undefined || (bar.against !== undefined && best === undefined)) return []
    const value = best === undefined ? ours : ours / best.theirs
    return [{ ...bar, title: result.title, ours, ...best, value, passed: reaches(bar, value) }]
  })
}

/** Of those that were measured: the highest rate, or the lowest latency. */
function bestOf(columns, figure, medians) {
  const measured = columns.flatMap((against) => {
    const theirs = medians?.[against]?.[figure]
    return theirs === undefined ? [] : [{ against, theirs }]
  })
  const isLatency = figure === 'p50' || figure === 'p99'
  return measured.sort((a, b) => (isLatency ? a.theirs - b.theirs : b.theirs - a.theirs))[0]
}

function reaches({ atLeast, atMost, below }, value) {
  if (atLeast !== undefined) return value >= atLeast
  return atMost === undefined ? value < below : value <= atMost
}
