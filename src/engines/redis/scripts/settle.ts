import { heads } from './heads.ts'
import { indexes } from './indexes.ts'

/**
 * Ends jobs as succeeded that hang on nothing: no workflow, no schedule, no idempotency key, and nothing to say but their result. For
 * each: id, claim, what is kept of the result, and whether the job is kept. Answers `a` applied, `l` lost, `r` to be done by the rules.
 */
export const settleScript = `
local stamp = ARGV[2]
${indexes}
${heads}
local now = ARGV[1]
local hasWorkflows, hasOnce, hasReached = call('EXISTS', P .. 'p') == 1, call('EXISTS', P .. 'ok') == 1, call('EXISTS', P .. 'reached') == 1

local function settle(id, claim, extra, isKept)
  local head = call('HGET', P .. 'h', id)
  if not head then return 'l' end
  local state, runAt, attempts, rescues, startedAt, _, lease, marks, last, by, rest = string.match(head, pattern)
  if state ~= '3' or last ~= claim then return 'l' end
  if hasWorkflows and (call('HEXISTS', P .. 'p', id) == 1 or call('EXISTS', P .. 'et:' .. id) == 1) then return 'r' end
  if hasOnce and call('HEXISTS', P .. 'ok', id) == 1 then return 'r' end
  if call('HEXISTS', P .. 'x', id) == 1 then return 'r' end
  local parts = partsOf(rest)
  local isRead, owners = pcall(cjson.decode, '[' .. by .. ']')
  if not parts or not isRead or type(owners[1]) ~= 'string' or type(parts[11]) == 'string' then return 'r' end
  local job, queue, group, number = parts[1], parts[2], parts[5], parts[6]
  local owner = owners[1]
  marks = wholeOf(marks) or 0
  call('ZREM', P .. 'all:running', id)
  call('ZREM', P .. 'run', id)
  call('ZREM', P .. 'own:' .. owner, id)
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
    call('HSET', P .. 'h', id, headOf(4, runAt, attempts, rescues, startedAt, now, lease, left, last, by, rest))
    if extra ~= '' then call('HSET', P .. 'x', id, extra) end
    call('ZADD', P .. 'all:succeeded', 0, id)
    call('ZADD', P .. 'end:succeeded', now, id)
    countJobs(queue, job, 'succeeded', 1)
  else
    call('HDEL', P .. 'h', id)
    call('HDEL', P .. 'b', id)
    if call('HDEL', P .. 'lx', id) == 1 then call('DEL', P .. 'log:' .. id) end
    if type(number) == 'number' then call('HDEL', P .. 'num', string.format('%.0f', number)) end
  end
  return 'a'
end

local answers = {}
for at = 3, #ARGV, 4 do answers[#answers + 1] = settle(ARGV[at], ARGV[at + 1], ARGV[at + 2], ARGV[at + 3]) end
writeCounts()
openLanes()
wake()
return table.concat(answers)
`
