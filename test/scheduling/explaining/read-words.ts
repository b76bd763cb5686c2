/** Reads the words for a time of day back into the seconds of the day that they name, knowing nothing of what wrote them. */
export function secondsInWords(words: string): number[] {
  const [time, windows] = splitWindows(words)
  const isNamed = timeIn(time)
  const isInWindow = windows.length === 0 ? () => true : inSpans(windows)
  const seconds: number[] = []
  for (let second = 0; second < 86_400; second++) if (isInWindow(second) && isNamed(second)) seconds.push(second)
  return seconds
}

type IsNamed = (second: number) => boolean
type Span = readonly [from: number, to: number]

const clock = String.raw`\d\d:\d\d(?::\d\d)?`
const span = `from ${clock} to ${clock}`
const window = `(?:between ${clock} and ${clock}|at ${clock})`
const unitSeconds: Record<string, number> = { second: 1, minute: 60, hour: 3_600 }

function splitWindows(words: string): [string, Span[]] {
  const [all, windows] = new RegExp(`,? (?:but only )?(${window}(?:(?:, | and )${window})*)$`).exec(words) ?? ['', '']
  return [words.slice(0, words.length - all.length), spansIn(windows!, window)]
}

function timeIn(words: string): IsNamed {
  if (new RegExp(`^At ${clock}(?:(?:, | and )${clock})*$`).test(words)) {
    const times = new Set(clocksIn(words))
    return (second) => times.has(second)
  }
  const [, seconds, place] = /^(At seconds? [^a-z]+(?:(?:to|and) [^a-z]+)*|Every (?:\d+ )?seconds?) of (.*)$/.exec(words) ?? []
  if (seconds !== undefined) return within(place!, secondsOf(seconds))
  return words.startsWith('At minute') ? within(words.slice('At '.length), new Set([0])) : cadence(words)
}

/** "Every 5 minutes", with the hours in which it counts. */
function cadence(words: string): IsNamed {
  const [, count, unit, place = ''] = /^Every (?:(\d+) )?(second|minute|hour)s?(?: (.*))?$/.exec(words)!
  const step = Number(count ?? 1) * unitSeconds[unit!]!
  const spans = spansIn(place, span)
  if (spans.length > 0)
    return (second) => spans.some(([from, to]) => from <= second && second <= to && (second - from) % step === 0)
  const hours = place === '' ? null : numbersIn(place.replace('in the hours ', ''))
  return (second) => second % step === 0 && (hours === null || hours.has(Math.floor(second / 3_600)))
}

/** "minutes 0 to 9 of every hour from 09:00 to 17:09", "every minute from 09:00 to 17:59". */
function within(words: string, seconds: ReadonlySet<number>): IsNamed {
  const [, minuteText, hourText] = /^minutes? (.*?) of (.*)$/.exec(words) ?? []
  const minutes = minuteText === undefined ? null : numbersIn(minuteText)
  const isHour = hoursIn(hourText ?? words, minutes === null)
  return (second) => seconds.has(second % 60) && (minutes === null || minutes.has(Math.floor(second / 60) % 60)) && isHour(second)
}

function hoursIn(words: string, isSpanOfMinutes: boolean): IsNamed {
  const [, list] = /^(?:every minute in the )?hours? (.*)$/.exec(words) ?? []
  if (list !== undefined) {
    const hours = numbersIn(list)
    return (second) => hours.has(Math.floor(second / 3_600))
  }
  if (/^every (hour|minute)$/.test(words)) return () => true
  // A span of minutes ends with its last minute, and that has sixty seconds.
  return inSpans(spansIn(words, span).map(([from, to]) => [from, isSpanOfMinutes ? to + 59 : to]))
}

function secondsOf(words: string): Set<number> {
  if (!words.startsWith('Every')) return numbersIn(words.replace(/^At seconds? /, ''))
  const step = Number(/\d+/.exec(words)?.[0] ?? 1)
  return new Set(upTo(0, 59, step))
}

/** "0 to 5, 10 and 20", "0, 7, 14, …, 56". */
function numbersIn(text: string): Set<number> {
  const items = text.split(/, | and /)
  if (items[3] === '…') {
    const [first, second, , , last] = items.map(Number) as [number, number, number, number, number]
    return new Set(upTo(first, last, second - first))
  }
  const runs = items.map((item) => item.split(' to ').map(Number) as [number, number | undefined])
  return new Set(runs.flatMap(([from, to]) => upTo(from, to ?? from, 1)))
}

function inSpans(spans: readonly Span[]): IsNamed {
  return (second) => spans.some(([from, to]) => from <= second && second <= to)
}

function spansIn(text: string, form: string): Span[] {
  const texts = text.match(new RegExp(form, 'g')) ?? []
  return texts.map(clocksIn).map((clocks) => [clocks[0]!, clocks.at(-1)!])
}

function clocksIn(text: string): number[] {
  return text.match(new RegExp(clock, 'g'))!.map((one) => {
    const [hour, minute, second = 0] = one.split(':').map(Number) as [number, number, number | undefined]
    return hour * 3_600 + minute * 60 + second
  })
}

function upTo(from: number, to: number, step: number): number[] {
  return Array.from({ length: Math.floor((to - from) / step) + 1 }, (_, index) => from + index * step)
}
