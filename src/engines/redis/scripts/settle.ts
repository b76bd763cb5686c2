import { heads } from './heads.ts'
import { indexes } from './indexes.ts'

/**
 * Ends jobs without dependencies as succeeded: no workflow, no schedule, no idempotency key, and nothing to store but a result.
 * Leases of the same claim that follow each other are passed as a run: the claim, whether to keep the jobs, the length, and for
 * each job its id and what to keep of the result. Returns for each `a` (applied), `l` (lost) or `r` (left to the rules).
 */
export const settleScript = `
local stamp = ARGV[2]
${indexes}
${heads}
local now = ARGV[1]
local hasReached = call('EXISTS', P .. 'reached') == 1
local ids, claims, extras, areKept, owners, isSettled = {}, {}, {}, {}, {}, {}
local at = 3
while at <= #ARGV do
  local claim, isKept, length = ARGV[at], ARGV[at + 1] == '1', tonumber(ARGV[at + 2])
  at = at + 3
  for row = at, at + 2 * length - 1, 2 do
    local place = #ids + 1
    ids[place], extras[place], claims[place], areKept[place] = ARGV[row], ARGV[row + 1], claim, isKept
  end
  at = at + 2 * length
end

-- Nothing where the table is empty.
local function storedIn(table)
  return call('EXISTS', P .. table) == 1 and valuesOf(P .. table, ids) or {}
end
local heads, workflows, once, extrasBefore = valuesOf(P .. 'h', ids), storedIn('p'), storedIn('ok'), storedIn('x')
local hasWorkflows = call('EXISTS', P .. 'p') == 1

-- Nil where it cannot be read.
local function ownerOf(by)
  if owners[by] then return owners[by] end
  local isRead, list = pcall(cjson.decode, '[' .. by .. ']')
  if isRead and type(list[1]) == 'string' then owners[by] = list[1] end
  return owners[by]
end

local counted, ended, written, kept, times, results, unkept = {}, {}, {}, {}, {}, {}, {}

-- The lists by name and group that jobs leave with the queue.
local left = {}
local function leave(list, id)
  left[list] = left[list] or {}
  table.insert(left[list], id)
end

local function settle(place)
  local id, head = ids[place], heads[place]
  -- Heads are read before any is written: a lease that is named twice has ended the second time.
  if not head or isSettled[id] then return 'l' end
  local state, runAt, attempts, rescues, startedAt, _, lease, marks, last, by, rest = string.match(head, pattern)
  if state ~= '3' or last ~= claims[place] then return 'l' end
  if workflows[place] or once[place] or extrasBefore[place] then return 'r' end
  if hasWorkflows and call('EXISTS', P .. 'et:' .. id) == 1 then return 'r' end
  local parts = partsOf(rest)
  marks = wholeOf(marks) or 0
  local isStopped = marks % 2 == 1
  local owner = isStopped and ownerOf(by)
  if not parts or (isStopped and not owner) or type(parts[11]) == 'string' then return 'r' end
  local job, queue, group, number = parts[1], parts[2], parts[5], parts[6]
  isSettled[id] = true
  ended[#ended + 1] = id
  if isStopped then call('ZREM', P .. 'stop:' .. owner, id) end
  if parts[10] == 'ended' and type(parts[8]) == 'string' then call('HDEL', P .. 'u', parts[8]) end
  parts.ended = (parts.ended or 0) + 1
  counted[parts] = true
  if group ~= cjson.null then changeBusy(job, group, -1) end
  if areKept[place] then
    parts.kept = (parts.kept or 0) + 1
    local n = #written
    written[n + 1], written[n + 2] = id, headOf(4, runAt, attempts, rescues, startedAt, now, lease, marks - marks % 2, last, by, rest)
    kept[n + 1], kept[n + 2] = '0', id
    times[n + 1], times[n + 2] = now, id
    if extras[place] ~= '' then
      results[#results + 1] = id
      results[#results + 1] = extras[place]
    end
  else
    unkept[#unkept + 1] = id
    leave('of:' .. job, id)
    if group ~= cjson.null then leave('og:' .. group, id) end
    if call('HDEL', P .. 'lx', id) == 1 then call('DEL', P .. 'log:' .. id) end
    if type(number) == 'number' then call('HDEL', P .. 'num', string.format('%.0f', number)) end
  end
  return 'a'
end

local answers = {}
for place = 1, #ids do answers[place] = settle(place) end
put('ZREM', P .. 'run', ended)
put('HSET', P .. 'h', written)
put('HSET', P .. 'x', results)
put('ZADD', P .. 'all:succeeded', kept)
put('ZADD', P .. 'end:succeeded', times)
put('HDEL', P .. 'h', unkept)
put('HDEL', P .. 'b', unkept)
for list, those in pairs(left) do put('ZREM', P .. list, those) end
for parts in pairs(counted) do
  local job, queue = parts[1], parts[2]
  countJobs(queue, job, 'running', -parts.ended)
  if parts.kept then countJobs(queue, job, 'succeeded', parts.kept) end
  count('c', 'k\\n' .. job, -parts.ended)
  count('c', 'q\\n' .. queue, -parts.ended)
  if hasReached then
    free('job\\n' .. job)
    free('queue\\n' .. queue)
  end
end
writeCounts()
openLanes()
wake()
return table.concat(answers)
`
