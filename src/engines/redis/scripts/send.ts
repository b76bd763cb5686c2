import { heads } from './heads.ts'
import { indexes } from './indexes.ts'

/**
 * Stores jobs without dependencies: no unique key, no workflow. Jobs that follow each other and are stored in the same place are
 * passed as a run: its lane, group, queue, state and length, and for each job its id, time, number, head and body. Returns the
 * index of each job that was not stored, followed by the id of the job that already exists in its place.
 */
export const sendScript = `
local stamp = ARGV[2]
${indexes}
${heads}
local now = tonumber(ARGV[1])
local planned = call('ZRANGE', P .. 'due', 0, 0, 'WITHSCORES')[2]
planned = planned and tonumber(planned) or math.huge
local refused, isNew, sent = {}, {}, 0

local function storeRun(at, lane, group, queue, state, length)
  local ids = {}
  for place = 1, length do ids[place] = ARGV[at + 5 * place - 5] end
  local stored = valuesOf(P .. 'h', ids)
  local inOrder = isGrouped(lane) and state == 0
  local heads, bodies, all, times, n = {}, {}, {}, {}, 0
  for place = 1, length do
    local row = at + 5 * place - 5
    local id, time, number = ids[place], ARGV[row + 1], ARGV[row + 2]
    local holder = (stored[place] or isNew[id]) and id or (number ~= '' and call('HGET', P .. 'num', number))
    if holder then
      refused[#refused + 1] = sent + place - 1
      refused[#refused + 1] = holder
    else
      isNew[id] = true
      heads[n + 1], heads[n + 2] = id, ARGV[row + 3]
      bodies[n + 1], bodies[n + 2] = id, ARGV[row + 4]
      all[n + 1], all[n + 2] = '0', id
      times[n + 1], times[n + 2] = time, id
      n = n + 2
      if number ~= '' then call('HSET', P .. 'num', number, id) end
      if inOrder then enterReady(lane, group, id, time) end
      if not wakes and (state == 0 or tonumber(time) < planned) then wakes = true end
    end
  end
  sent = sent + length
  if n == 0 then return end
  put('HSET', P .. 'h', heads)
  put('HSET', P .. 'b', bodies)
  put('ZADD', P .. 'all:' .. states[state], all)
  put('ZADD', P .. 'of:' .. jobOf(lane), all)
  if isGrouped(lane) then put('ZADD', P .. 'og:' .. group, all) end
  if state == 1 then put('ZADD', P .. 'due', times)
  elseif not inOrder then
    put('ZADD', P .. 'r:' .. lane, times)
    touched[lane] = true
  end
  countJobs(queue, jobOf(lane), states[state], n / 2)
end

local at = 3
while at <= #ARGV do
  local length = tonumber(ARGV[at + 4])
  storeRun(at + 5, ARGV[at], ARGV[at + 1], ARGV[at + 2], tonumber(ARGV[at + 3]), length)
  at = at + 5 + 5 * length
end
writeCounts()
openLanes()
wake()
return refused
`
