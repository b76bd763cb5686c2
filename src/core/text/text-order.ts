/**
 * Compares texts by code points, as databases do. JavaScript compares UTF-16 units, which puts the characters beyond U+FFFF
 * before those from U+E000 on.
 */
export function byCodePoint(a: string, b: string): number {
  const length = Math.min(a.length, b.length)
  for (let index = 0; index < length; index++) {
    const difference = placeOf(a.charCodeAt(index)) - placeOf(b.charCodeAt(index))
    if (difference !== 0) return difference
  }
  return a.length - b.length
}

/** Surrogates come after all other units. */
function placeOf(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit
}
