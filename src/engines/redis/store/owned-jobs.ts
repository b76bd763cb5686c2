import { script } from '../connections/script.ts'
import type { RedisServer } from '../connections/server.ts'
import { heads } from '../scripts/heads.ts'
import { indexes } from '../scripts/indexes.ts'

const ownedScript = script(`
local stamp = ''
${indexes}
${heads}
local isAsked = {}
for _, owner in ipairs(ARGV) do isAsked[owner] = true end
local ids, owned = call('ZRANGE', P .. 'run', 0, -1), {}
for place, head in ipairs(valuesOf(P .. 'h', ids)) do
  local by = select(10, string.match(head or '', pattern))
  if by and isAsked[by] then owned[#owned + 1] = ids[place] end
end
return owned
`)

/** The jobs that these owners run. Seldom asked, so it reads all jobs that run instead of keeping a list for each owner. */
export async function ownedJobs(server: RedisServer, owners: readonly string[]): Promise<readonly string[]> {
  if (owners.length === 0) return []
  return (await server.run(
    ownedScript,
    [...new Set(owners)].map((owner) => JSON.stringify(owner)),
  )) as string[]
}
