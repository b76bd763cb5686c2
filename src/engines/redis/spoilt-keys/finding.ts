import { type Judgement, problem, warning, well } from '../../../queue/upkeep/diagnosis.ts'
import { script } from '../connections/script.ts'
import type { RedisServer } from '../connections/server.ts'
import { pairsOf } from '../store/jobs.ts'
import { keyTypes } from './key-types.ts'
import { adviceOn, spoiltText } from './spoilt-keys.ts'

/** How many keys of the database a step looks at, and the maximum number of steps. */
const [stepSize, mostSteps] = [1_000, 1_000]
/** How many are shown. */
const mostShown = 5

/** Returns where the next step begins, and each key that is not of its type. */
const scanScript = script(`
local types = {}
for at = 3, #ARGV, 2 do types[ARGV[at]] = ARGV[at + 1] end
local beginning = string.gsub(KEYS[1], '[%[%]*?\\\\]', '\\\\%0')
local page = redis.call('SCAN', ARGV[1], 'MATCH', beginning .. '*', 'COUNT', ARGV[2])
local found = {}
for _, key in ipairs(page[2]) do
  local name = string.sub(key, #KEYS[1] + 1)
  local wanted = types[string.match(name, '^[^:]*:') or name]
  local kind = redis.call('TYPE', key).ok
  if wanted and kind ~= 'none' and kind ~= wanted then
    found[#found + 1] = name
    found[#found + 1] = 'found|' .. kind
  end
end
return { page[1], found }
`)

/** Notes whose keys somebody has looked at and deleted are of no use any more. */
const notesScript = script(`
local notes = redis.call('HGETALL', KEYS[1] .. 'spoilt')
local kept = {}
for at = 1, #notes, 2 do
  if redis.call('EXISTS', KEYS[1] .. 'spoilt:' .. notes[at]) == 1 then
    kept[#kept + 1] = notes[at]
    kept[#kept + 1] = notes[at + 1]
  elseif string.find(notes[at + 1], '^rebuilt') then redis.call('HDEL', KEYS[1] .. 'spoilt', notes[at]) end
end
return kept
`)

/** Looks at all keys of the queue. */
export async function judgeKeys(server: RedisServer): Promise<Judgement> {
  const { prefix } = server
  const wrong: string[] = []
  let cursor = '0'
  let steps = 0
  do {
    const [next, found] = (await server.run(scanScript, [cursor, stepSize, ...keyTypes.flat()])) as [string, string[]]
    wrong.push(...found)
    cursor = next
  } while (cursor !== '0' && ++steps < mostSteps)
  const open = [...pairsOf(wrong)]
  const [first] = open
  if (first !== undefined) {
    const shown = open.slice(0, mostShown).map(([name, text]) => spoiltText(prefix, name, text))
    const advice = 'It is renamed, and what can be rebuilt from the jobs is rebuilt, as soon as a worker or a dispatch needs it.'
    return problem(`${open.length} replaced by something else: ${shown.join('; ')}`, advice)
  }
  const notes = [...pairsOf((await server.run(notesScript, [])) as string[])]
  const [last] = notes
  if (last === undefined) return well('each is of the type that the queue needs')
  const shown = notes.slice(0, mostShown).map(([name, text]) => spoiltText(prefix, name, text))
  const [name] = last
  return warning(shown.join('; '), `${adviceOn(prefix, name)}. Delete the renamed key when you have seen it.`)
}
