export function median(values) {
  return percentile(values, 50)
}

/** The value that so many percent are not above; between two values, the mean of them. */
export function percentile(values, percent) {
  const sorted = [...values].sort((a, b) => a - b)
  const place = (percent / 100) * (sorted.length - 1)
  const below = sorted[Math.floor(place)]
  const above = sorted[Math.ceil(place)]
  return below + (above - below) * (place - Math.floor(place))
}
