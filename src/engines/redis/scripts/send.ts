import { heads } from './heads.ts'
import { indexes } from './indexes.ts'

/**
 * Stores jobs without dependencies: no unique key, no workflow. Arguments for each: id, lane, group, time, number, what rarely
 * changes, its body, and its queue. Returns for each the id of the job that already exists in its place, or an empty text.
 */
export const sendScript = `
local stamp = ARGV[2]
${indexes}
${heads}
local now = tonumber(ARGV[1])
local planned = call('ZRANGE', P .. 'due', 0, 0, 'WITHSCORES')[2]
planned = planned and tonumber(planned) or math.huge
local ids, isStored = {}, {}
for at = 3, #ARGV, 8 do ids[#ids + 1] = ARGV[at] end
for place, head in pairs(valuesOf(P .. 'h', ids)) do if head then isStored[ids[place]] = true end end
local answers = {}
for at = 3, #ARGV, 8 do
  local id, lane, group, time, number = ARGV[at], ARGV[at + 1], ARGV[at + 2], ARGV[at + 3], ARGV[at + 4]
  local holder = number ~= '' and call('HGET', P .. 'num', number) or false
  if isStored[id] then answers[#answers + 1] = id
  elseif holder then answers[#answers + 1] = holder
  else
    local runAt = tonumber(time)
    local state = runAt > now and 1 or 0
    isStored[id] = true
    later('HSET', P .. 'h', id, headOf(state, time, 0, 0, '', '', 0, 0, '', '', ARGV[at + 5]))
    later('HSET', P .. 'b', id, ARGV[at + 6])
    later('ZADD', P .. 'all:' .. states[state], 0, id)
    later('ZADD', P .. 'of:' .. jobOf(lane), 0, id)
    if isGrouped(lane) then later('ZADD', P .. 'og:' .. group, 0, id) end
    if number ~= '' then call('HSET', P .. 'num', number, id) end
    if state == 1 then later('ZADD', P .. 'due', time, id)
    elseif isGrouped(lane) then enterReady(lane, group, id, time)
    else
      later('ZADD', P .. 'r:' .. lane, time, id)
      touched[lane] = true
    end
    countJobs(ARGV[at + 7], jobOf(lane), states[state], 1)
    if runAt <= now or runAt < planned then wakes = true end
    answers[#answers + 1] = ''
  end
end
flush()
writeCounts()
openLanes()
wake()
return answers
`
