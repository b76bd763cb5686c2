import { heads } from '../scripts/heads.ts'
import { indexes } from '../scripts/indexes.ts'

/** Counts all jobs anew: how many are in each state, and how many run. */
export const recountScript = `
local stamp = ''
${indexes}
${heads}
local function changed(key, name) count(key, name, 1) end
local cursor, queues, names = '0', {}, {}
repeat
  local page = call('HSCAN', P .. 'h', cursor, 'COUNT', 1000)
  cursor = page[1]
  for at = 2, #page[2], 2 do
    local state, _, _, _, _, _, _, _, _, _, rest = string.match(page[2][at], pattern)
    local parts = rest and partsOf(rest)
    local name = parts and states[tonumber(state)]
    if name then
      local job, queue, group = parts[1], parts[2], parts[5]
      queues[queue], names[job] = true, true
      countJobs(queue, job, name, 1)
      if name == 'running' then
        changed('c', 'k\\n' .. job)
        changed('c', 'q\\n' .. queue)
        if group ~= cjson.null then changed('c', 'g\\n' .. job .. '\\n' .. group) end
      end
    end
  end
until cursor == '0'
for _, queue in ipairs(call('HKEYS', P .. 'nq')) do queues[queue] = true end
for queue in pairs(queues) do
  for _, place in ipairs(call('HKEYS', P .. 'n:' .. queue)) do names[string.match(place, '^[^\\n]*')] = true end
  call('DEL', P .. 'n:' .. queue)
end
for job in pairs(names) do call('DEL', P .. 'nj:' .. job) end
call('DEL', P .. 'nq', P .. 'ns', P .. 'c')
writeCounts()
return ''
`

/** Closes all lanes. Each is opened again when one of its jobs is written into it again. */
export const closeLanesScript = `
${indexes}
local lanes = {}
for _, lane in ipairs(call('ZRANGE', P .. 'open', 0, -1)) do lanes[lane] = true end
for _, lane in ipairs(call('HKEYS', P .. 'lh')) do lanes[lane] = true end
for lane in pairs(lanes) do
  local job, level = string.match(lane, '^([^\\n]*)\\n([^\\n]*)')
  call('DEL', P .. 'o:' .. (job or ''), P .. 'op:' .. (level or ''), P .. 'w:' .. queueAndJobOf(lane))
  if isGrouped(lane) then call('DEL', P .. 'gt:' .. lane, P .. 'g:' .. lane) end
end
call('DEL', P .. 'open', P .. 'lh', P .. 'names', P .. 'levels')
return ''
`

/** Writes the indexes of a page of edges or of runs of schedules again. Returns where the next page begins. */
export const relistScript = `
local P, call = KEYS[1], redis.call
local table, cursor, size = ARGV[1], ARGV[2], ARGV[3]
local page = call('HSCAN', P .. table, cursor, 'COUNT', size)
for at = 1, #page[2], 2 do
  local name, text = page[2][at], page[2][at + 1]
  local isRead, parts = pcall(cjson.decode, text)
  if isRead and type(parts) == 'table' then
    if table == 'e' then
      local waiter, target = parts[1], parts[2]
      if type(waiter) == 'string' and type(target) == 'string' then
        call('ZADD', P .. 'ew:' .. waiter, type(parts[8]) == 'number' and parts[8] or 0, name)
        if parts[7] == cjson.null then call('ZADD', P .. 'et:' .. target, 0, name) end
      end
    else
      local schedule, instant = string.match(name, '^(.*)\\n(-?%d+)$')
      if schedule then
        call('SADD', P .. 'timed', schedule)
        call('ZADD', P .. 'occ:' .. schedule, instant, instant)
        if parts[5] == cjson.null then call('ZADD', P .. 'ou:' .. schedule, instant, instant) end
      end
    end
  end
end
return page[1]
`
