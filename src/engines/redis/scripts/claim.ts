import { jobMark } from '../../../queue/rules/claiming/pausing.ts'
import { heads } from './heads.ts'
import { indexes } from './indexes.ts'

/**
 * Claims jobs that have no limits, best first. Returns `tidy` if leases or waits have to be handled first, and `rules` if a
 * wanted lane has groups or jobs that must run alone. The wanted jobs are given by name or by lane.
 */
export const claimScript = `
local stamp = ARGV[2]
${indexes}
${heads}
local now, limit, leaseUntil = tonumber(ARGV[1]), tonumber(ARGV[3]), ARGV[4]
local claim, owner, ownerText, flags, priority = ARGV[5], ARGV[6], ARGV[7], tonumber(ARGV[8]), ARGV[9]
local most, nQueues = tonumber(ARGV[10]), tonumber(ARGV[11])

local function first(key) return call('ZRANGE', P .. key, 0, 0, 'WITHSCORES')[2] or '' end
local function isOver(key)
  local at = first(key)
  return at ~= '' and tonumber(at) <= now
end
local areGiven = ARGV[12] == 'lanes'
if isOver('run') or isOver('waits') or (areGiven and isOver('due')) then return { 'tidy' } end
releaseGroups(now)

local due = call('ZRANGEBYSCORE', P .. 'due', '-inf', now, 'LIMIT', 0, 1000)
for _, id in ipairs(due) do
  local head = call('HGET', P .. 'h', id)
  local state, runAt, attempts, rescues, startedAt, finishedAt, lease, marks, last, by, rest = string.match(head or '', pattern)
  local parts = partsOf(rest)
  call('ZREM', P .. 'due', id)
  if parts and state == '1' then
    local job, queue, group = parts[1], parts[2], parts[5]
    local isGrouped = group ~= cjson.null
    local lane = job .. '\\n' .. string.format('%.0f', parts[3]) .. '\\n' .. (parts[4] == 1 and '!' or ' ') .. (isGrouped and '&' or ' ') .. '\\n' .. queue
    call('HSET', P .. 'h', id, headOf(0, runAt, attempts, rescues, startedAt, finishedAt, lease, marks, last, by, rest))
    call('ZREM', P .. 'all:scheduled', id)
    call('ZADD', P .. 'all:ready', 0, id)
    enterReady(lane, isGrouped and group or '', id, timeOf(runAt))
    countJobs(queue, job, 'scheduled', -1)
    countJobs(queue, job, 'ready', 1)
  elseif parts and states[tonumber(state)] then follow(id, 'scheduled', state)
  elseif head then bury(id, ARGV[1])
  else call('ZREM', P .. 'all:scheduled', id) end
end
openLanes()
touched = {}

local queues, names = nil, {}
if nQueues >= 0 then
  queues = {}
  for at = 13, 12 + nQueues do queues[ARGV[at]] = true end
end
local firstName = 13 + math.max(nQueues, 0)
for at = firstName, #ARGV do names[ARGV[at]] = true end
local paused = {}
for _, queue in ipairs(call('HKEYS', P .. 'paused')) do paused[queue] = true end

local byPriority, levels, isPlain = {}, {}, true
local function consider(lane)
  local job, level, single, grouped, queue = string.match(lane, '^([^\\n]*)\\n([^\\n]*)\\n(.)(.)\\n(.*)$')
  if (not areGiven and not names[job]) or paused[queue] or paused['${jobMark}' .. job] or (queues and not queues[queue]) then return end
  if priority ~= '' and priority ~= level then return end
  if single == '!' or grouped == '&' then isPlain = false end
  level = tonumber(level)
  if not level or level ~= level then return end
  if not byPriority[level] then
    byPriority[level] = {}
    levels[#levels + 1] = level
  end
  table.insert(byPriority[level], { lane = lane, job = job, queue = queue, taken = 0, at = 0, from = 0, list = {} })
end
if areGiven then
  for at = firstName, #ARGV do consider(ARGV[at]) end
elseif call('ZCARD', P .. 'open') <= most then
  for _, lane in ipairs(call('ZRANGE', P .. 'open', 0, -1)) do consider(lane) end
else
  for at = firstName, #ARGV do
    if call('ZCARD', P .. 'o:' .. ARGV[at]) > most then isPlain = false break end
    for _, lane in ipairs(call('ZRANGE', P .. 'o:' .. ARGV[at], 0, -1)) do consider(lane) end
  end
end
if not isPlain then
  writeCounts()
  wake()
  return { 'rules' }
end
table.sort(levels, function(a, b) return a > b end)

-- The first of what is left of a lane; a part of it is fetched at a time.
local function head(of, page)
  if of.at * 2 >= #of.list then
    if of.isDone then return nil end
    of.list = call('ZRANGE', P .. 'r:' .. of.lane, of.from, of.from + page - 1, 'WITHSCORES')
    of.isDone = #of.list < 2 * page
    of.from, of.at = of.from + page, 0
    if #of.list == 0 then return nil end
  end
  return of.list[of.at * 2 + 1], tonumber(of.list[of.at * 2 + 2])
end

local chosen = {}
for _, level in ipairs(levels) do
  local lanes = byPriority[level]
  local page = math.max(1, math.min(limit, math.ceil(2 * limit / #lanes)))
  while #chosen < limit do
    local best, bestId, bestAt
    for _, of in ipairs(lanes) do
      local id, at = head(of, page)
      if id and (not best or at < bestAt or (at == bestAt and id < bestId)) then best, bestId, bestAt = of, id, at end
    end
    if not best then break end
    best.at, best.taken = best.at + 1, best.taken + 1
    chosen[#chosen + 1] = { bestId, best }
  end
  for _, of in ipairs(lanes) do
    if of.taken > 0 then
      call('ZREMRANGEBYRANK', P .. 'r:' .. of.lane, 0, of.taken - 1)
      touched[of.lane] = true
      countJobs(of.queue, of.job, 'ready', -of.taken)
      countJobs(of.queue, of.job, 'running', of.taken)
      count('c', 'k\\n' .. of.job, of.taken)
      count('c', 'q\\n' .. of.queue, of.taken)
    end
  end
end

local ids, bodies, rests, facts = {}, {}, {}, {}
local hasWorkflows, hasKeys = call('EXISTS', P .. 'p') == 1, call('EXISTS', P .. 'u') == 1
local clock = string.format('%.0f', now)
local started, written, leased = {}, {}, {}

-- In the lane stands what is no ready job.
local function setAside(id, of, head, state)
  for _, name in ipairs({ 'k\\n' .. of.job, 'q\\n' .. of.queue }) do count('c', name, -1) end
  countJobs(of.queue, of.job, 'running', -1)
  if states[tonumber(state)] then follow(id, 'ready', state)
  elseif head then bury(id, clock)
  else call('ZREM', P .. 'all:ready', id) end
end

local function wholeText(text) return string.match(text, '^%-?%d+$') or 'x' end

local function start(id, of, head, body)
  local state, runAt, attempts, rescues, startedAt, finishedAt, _, marks, _, _, rest = string.match(head or '', pattern)
  local parts = rest and partsOf(rest)
  if not parts then return setAside(id, of, head, nil) end
  if state ~= '0' then return setAside(id, of, head, state) end
  local begun = marks == '0' and 0 or math.floor((wholeOf(marks) or 0) / 2) % 2
  -- Attempts that are none are the 0th, which is refused.
  local attempt = string.format('%.0f', (wholeOf(attempts) or -1) + 1)
  local n = #started
  started[n + 1] = id
  written[2 * n + 1], written[2 * n + 2] = id, headOf(3, runAt, attempt, rescues, clock, finishedAt, leaseUntil,
    flags + 2 * begun, claim, ownerText, rest)
  leased[2 * n + 1], leased[2 * n + 2] = leaseUntil, id
  if hasKeys and startedAt == '' and parts[10] == 'started' and type(parts[8]) == 'string' then
    call('HDEL', P .. 'u', parts[8])
  end
  local isLinked = hasWorkflows and (call('HEXISTS', P .. 'p', id) == 1 or call('EXISTS', P .. 'et:' .. id) == 1)
  bodies[n + 1], rests[n + 1] = body or '', rest
  facts[n + 1] = attempt .. '|' .. wholeText(rescues) .. '|' .. wholeText(runAt) .. '|' .. (isLinked and 1 or 0)
end
for place, each in ipairs(chosen) do ids[place] = each[1] end
local texts, contents = valuesOf(P .. 'h', ids), valuesOf(P .. 'b', ids)
for place, each in ipairs(chosen) do start(each[1], each[2], texts[place], contents[place]) end
put('HSET', P .. 'h', written)
put('ZREM', P .. 'all:ready', started)
put('ZADD', P .. 'run', leased)
writeCounts()
openLanes()
wake()
local stopped = {}
for _, id in ipairs(call('ZRANGE', P .. 'stop:' .. owner, 0, -1)) do
  local _, _, _, _, _, _, _, _, last = string.match(call('HGET', P .. 'h', id) or '', pattern)
  if last then stopped[#stopped + 1] = last .. '.' .. id end
end
return { 'done', started, bodies, rests, table.concat(facts, ','), first('run'), first('due'), first('waits'), first('gh'), stopped }
`
