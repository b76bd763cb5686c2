/** What the server calls the type of each key of a queue; keys that end in a colon are followed by a name. */
const namesOfType: Readonly<Record<string, string>> = {
  hash: 'away b c e evl evp gone gt: h lh locks lx meta n: nj: nq ns num oc oh ok om p paused pc: rcpt ru sch spoilt told u ul workers x',
  zset: 'all: due end: et: ew: g: gf: gh levels locksx names o: occ: of: og: omx op: open ou: parcels r: rcptx root: run schr schx stop: ulx waits',
  set: 'gl: reached timed w:',
  list: 'log:',
  string: 'mutex rate: repairing',
  stream: 'ev',
}

/** Names and types. */
export const keyTypes = Object.entries(namesOfType).flatMap(([type, names]) =>
  names.split(' ').map((name) => [name, type] as const),
)

const typeOfName = new Map(keyTypes)

/** Which of a queue's keys this is, and the type that it should have; null if it is none of them. */
export function keyTypeOf(key: string): string | null {
  const end = key.indexOf(':') + 1
  return typeOfName.get(end === 0 ? key : key.slice(0, end)) ?? null
}

/** What can be written again from the jobs, edges and runs of schedules that are stored elsewhere. */
const rebuilt = new Set(
  (
    'all: c due end: et: ew: g: gf: gh gl: gt: levels lh n: names nj: nq ns num o: occ: of: og: ' +
    'op: open ou: r: reached root: run stop: timed u w: waits mutex repairing'
  ).split(' '),
)

export function isRebuilt(key: string): boolean {
  const end = key.indexOf(':') + 1
  return rebuilt.has(end === 0 ? key : key.slice(0, end))
}
