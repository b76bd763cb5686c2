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
    const theirs = bar.against === undefined ? undefined : result?.medians[bar.against]?.[bar.figure]
    if (ours === undefined || (bar.against !== undefined && theirs === undefined)) return []
    const value = theirs === undefined ? ours : ours / theirs
    const passed = bar.atLeast === undefined ? value < bar.below : value >= bar.atLeast
    return [{ ...bar, title: result.title, ours, theirs, value, passed }]
  })
}
