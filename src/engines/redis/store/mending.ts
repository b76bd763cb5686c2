import type { SweepReport } from '../../../queue/contract/store.ts'
import { mend } from '../../../queue/rules/workflows/mending.ts'
import { script } from '../connections/script.ts'
import type { RedisServer } from '../connections/server.ts'
import { heads } from '../scripts/heads.ts'
import { indexes } from '../scripts/indexes.ts'
import type { Units } from '../units/units.ts'

/** Blocked jobs whose counts do not match their edges, or that wait for a job which has ended or does not exist. */
const suspectsScript = script(`
local stamp = ''
${indexes}
${heads}
local function read(text)
  local isRead, parts = pcall(cjson.decode, text or '')
  return isRead and type(parts) == 'table' and parts or {}
end
local function isOver(id)
  local state = string.match(call('HGET', P .. 'h', id) or '', pattern)
  return not state or (tonumber(state) or 0) > 3
end
local suspects = {}
for _, id in ipairs(ARGV) do
  local awaited, isInVain = 0, false
  for _, name in ipairs(call('ZRANGE', P .. 'ew:' .. id, 0, -1)) do
    local edge = read(call('HGET', P .. 'e', name))
    if edge[6] == true then
      awaited = awaited + 1
      isInVain = isInVain or isOver(edge[2])
    end
  end
  local pending = read(call('HGET', P .. 'p', id))[5]
  if isInVain or awaited == 0 or pending ~= awaited then suspects[#suspects + 1] = id end
end
return suspects
`)

/** Maximum number of jobs that one script looks at. */
const page = 200

/** Repairs what jobs wait for if what is stored of it is inconsistent. */
export class Mending {
  readonly #server: RedisServer
  readonly #units: Units
  #last = ''

  constructor(server: RedisServer, units: Units) {
    this.#server = server
    this.#units = units
  }

  /** Goes on where the last call ended. Looks at fewer than `limit` when it reaches the end; the next call starts over. */
  async mend(limit: number): Promise<SweepReport> {
    let [looked, changed] = [0, 0]
    while (looked < limit) {
      const size = Math.min(page, limit - looked)
      const range = [this.#last === '' ? '-' : `(${this.#last}`, '+', 'BYLEX', 'LIMIT', 0, size] as const
      const [ids = []] = (await this.#server.all([['ZRANGE', 'all:blocked', ...range]])) as string[][]
      this.#last = ids.length < size ? '' : (ids.at(-1) ?? '')
      looked += ids.length
      changed += await this.#mendThese((await this.#server.run(suspectsScript, ids)) as string[])
      if (ids.length < size) break
    }
    return { looked, changed }
  }

  async #mendThese(ids: readonly string[]): Promise<number> {
    if (ids.length === 0) return 0
    return this.#units.run((queue) => {
      queue.wantDeleted(ids)
      queue.want(ids.flatMap((id) => queue.job(id)?.links?.edges.all.map((edge) => edge.id) ?? []))
      const mended = mend(ids, queue.rules)
      if (mended > 0) queue.wakes = true
      return { answer: mended }
    })
  }
}
