import { heads } from './heads.ts'
import { indexes } from './indexes.ts'

/**
 * Ends jobs without dependencies as succeeded: no workflow, no schedule, no idempotency key, and nothing to store but a result.
 * Arguments for each: id, claim, what to keep of the result, and whether to keep the job. Returns for each `a` (applied), `l`
 * (lost) or `r` (left to the rules).
 */
export const settleScript = `
local stamp = ARGV[2]
${indexes}
${heads}
local now = ARGV[1]
local hasWorkflows, hasOnce, hasReached = call('EXISTS', P .. 'p') == 1, call('EXISTS', P .. 'ok') == 1, call('EXISTS', P .. 'reached') == 1
local hasExtras = call('EXISTS', P .. 'x') == 1
local ids, owners, isSettled = {}, {}, {}
for at = 3, #ARGV, 4 do ids[#ids + 1] = ARGV[at] end
local heads = valuesOf(P .. 'h', ids)

-- Nil where it cannot be read.
local function ownerOf(by)
  if owners[by] then return owners[by] end
  local isRead, list = pcall(cjson.decode, '[' .. by .. ']')
  if isRead and type(list[1]) == 'string' then owners[by] = list[1] end
  return owners[by]
end

local function settle(id, head, claim, extra, isKept)
  -- Heads are read before any is written: a lease that is named twice has ended the second time.
  if not head or isSettled[id] then return 'l' end
  local state, runAt, attempts, rescues, startedAt, _, lease, marks, last, by, rest = string.match(head, pattern)
  if state ~= '3' or last ~= claim then return 'l' end
  if hasWorkflows and (call('HEXISTS', P .. 'p', id) == 1 or call('EXISTS', P .. 'et:' .. id) == 1) then return 'r' end
  if hasOnce and call('HEXISTS', P .. 'ok', id) == 1 then return 'r' end
  if hasExtras and call('HEXISTS', P .. 'x', id) == 1 then return 'r' end
  local parts = partsOf(rest)
  local owner = ownerOf(by)
  if not parts or not owner or type(parts[11]) == 'string' then return 'r' end
  local job, queue, group, number = parts[1], parts[2], parts[5], parts[6]
  marks = wholeOf(marks) or 0
  isSettled[id] = true
  later('ZREM', P .. 'all:running', id)
  later('ZREM', P .. 'run', id)
  later('ZREM', P .. 'own:' .. owner, id)
  if marks % 2 == 1 then call('ZREM', P .. 'stop:' .. owner, id) end
  if parts[10] == 'ended' and type(parts[8]) == 'string' then call('HDEL', P .. 'u', parts[8]) end
  countJobs(queue, job, 'running', -1)
  count('c', 'k\\n' .. job, -1)
  count('c', 'q\\n' .. queue, -1)
  if group ~= cjson.null then changeBusy(job, group, -1) end
  if hasReached then
    free('job\\n' .. job)
    free('queue\\n' .. queue)
  end
  if isKept == '1' then
    local left = marks - marks % 2
    later('HSET', P .. 'h', id, headOf(4, runAt, attempts, rescues, startedAt, now, lease, left, last, by, rest))
    if extra ~= '' then later('HSET', P .. 'x', id, extra) end
    later('ZADD', P .. 'all:succeeded', 0, id)
    later('ZADD', P .. 'end:succeeded', now, id)
    countJobs(queue, job, 'succeeded', 1)
  else
    later('HDEL', P .. 'h', id)
    later('HDEL', P .. 'b', id)
    later('ZREM', P .. 'of:' .. job, id)
    if group ~= cjson.null then later('ZREM', P .. 'og:' .. group, id) end
    if call('HDEL', P .. 'lx', id) == 1 then call('DEL', P .. 'log:' .. id) end
    if type(number) == 'number' then call('HDEL', P .. 'num', string.format('%.0f', number)) end
  end
  return 'a'
end

local answers = {}
for place, id in ipairs(ids) do
  local at = 4 * place - 1
  answers[place] = settle(id, heads[place], ARGV[at + 1], ARGV[at + 2], ARGV[at + 3])
end
flush()
writeCounts()
openLanes()
wake()
return table.concat(answers)
`
