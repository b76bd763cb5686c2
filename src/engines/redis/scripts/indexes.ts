/** In `g:LANE`, the score of a group is this for each of its running jobs, plus its turn. */
export const groupStep = 2 ** 36

/**
 * What all scripts share: the indexes of ready jobs. `P` is the prefix of all keys. A lane's name is its job, priority, flags and
 * queue, each on a line; the second flag is `&` if its jobs belong to groups.
 *
 * r:LANE            ready jobs of a lane without groups, by time
 * r:LANE\nGROUP     ready jobs of a group in a lane
 * g:LANE            waiting groups, by how many of their jobs are running and then by turn, except those out of tokens
 * gt:LANE           the turn of each group (=GROUP), and the last turn that was assigned (#)
 * gl:JOB\nGROUP     lanes in which a group has ready jobs
 * gh                groups that are out of tokens, by when they have tokens again
 * gf:LANE           groups of a lane by the time of their first job, including those out of tokens
 * open, o:JOB       lanes with a claimable job, by the time of the first one: all lanes, and those of one job
 * op:PRIORITY       the same for one priority: each preceded by the id of its first job, to order those of the same instant
 * lh                the entry of each lane in op:PRIORITY
 * names, levels     jobs and priorities that have such a lane
 * w:QUEUE\nJOB      lanes with ready jobs of a job in a queue, including those with only groups that are out of tokens
 */
export const indexes = `
local P = KEYS[1]
local call = redis.call
local step = ${groupStep}
local touched = {}
local wakes = false

local function queueAndJobOf(lane)
  local job, queue = string.match(lane, '^([^\\n]*)\\n[^\\n]*\\n[^\\n]*\\n(.*)$')
  return (queue or '') .. '\\n' .. (job or '')
end

local function jobOf(lane) return string.match(lane, '^([^\\n]*)') end
local function isGrouped(lane) return string.match(lane, '^[^\\n]*\\n[^\\n]*\\n.(.)') == '&' end
local function busyOf(job, group) return tonumber(call('HGET', P .. 'c', 'g\\n' .. job .. '\\n' .. group) or 0) or 0 end

local function add(table, name, change)
  local sum = redis.pcall('HINCRBY', P .. table, name, change)
  -- What somebody has spoilt is counted anew.
  if type(sum) == 'table' then call('HSET', P .. table, name, change)
  elseif sum == 0 then call('HDEL', P .. table, name) end
end

-- The next turn of a lane. Where somebody has spoilt the last one, turns go on behind all groups that wait.
local function nextTurn(lane)
  local turn = redis.pcall('HINCRBY', P .. 'gt:' .. lane, '#', 1)
  if type(turn) == 'number' then return turn end
  local last = call('ZREVRANGE', P .. 'g:' .. lane, 0, 0, 'WITHSCORES')[2]
  turn = (last and tonumber(last) % step or 0) + 1
  call('HSET', P .. 'gt:' .. lane, '#', string.format('%.0f', turn))
  return turn
end

-- The next revision of the schedules. Where the last one is lost, it goes on behind all that schedules have.
local function nextRevision()
  local revision = redis.pcall('HINCRBY', P .. 'meta', 'revision', 1)
  if type(revision) == 'number' and revision > 1 then return revision end
  revision = (tonumber(call('ZREVRANGE', P .. 'schx', 0, 0, 'WITHSCORES')[2]) or 0) + 1
  call('HSET', P .. 'meta', 'revision', string.format('%.0f', revision))
  return revision
end

local function noteFirst(lane, group)
  local first = call('ZRANGE', P .. 'r:' .. lane .. '\\n' .. group, 0, 0, 'WITHSCORES')[2]
  if first then call('ZADD', P .. 'gf:' .. lane, first, group) else call('ZREM', P .. 'gf:' .. lane, group) end
end

local function enterReady(lane, group, id, runAt)
  touched[lane] = true
  if not isGrouped(lane) then
    call('ZADD', P .. 'r:' .. lane, runAt, id)
    return
  end
  local job = jobOf(lane)
  call('ZADD', P .. 'r:' .. lane .. '\\n' .. group, runAt, id)
  noteFirst(lane, group)
  -- Where somebody has written a turn for a group that is not in line, it gets a place in it now.
  local isPlaced = call('ZSCORE', P .. 'g:' .. lane, group) or call('ZSCORE', P .. 'gh', job .. '\\n' .. group)
  local isKnown = call('SISMEMBER', P .. 'gl:' .. job .. '\\n' .. group, lane) == 1
  if isPlaced and isKnown and call('HEXISTS', P .. 'gt:' .. lane, '=' .. group) == 1 then return end
  local turn = nextTurn(lane)
  call('HSET', P .. 'gt:' .. lane, '=' .. group, turn)
  call('SADD', P .. 'w:' .. queueAndJobOf(lane), lane)
  call('SADD', P .. 'gl:' .. job .. '\\n' .. group, lane)
  if not call('ZSCORE', P .. 'gh', job .. '\\n' .. group) then
    call('ZADD', P .. 'g:' .. lane, busyOf(job, group) * step + turn, group)
  end
end

local function leaveReady(lane, group, id)
  touched[lane] = true
  if not isGrouped(lane) then
    call('ZREM', P .. 'r:' .. lane, id)
    return
  end
  call('ZREM', P .. 'r:' .. lane .. '\\n' .. group, id)
  noteFirst(lane, group)
  if call('EXISTS', P .. 'r:' .. lane .. '\\n' .. group) == 1 then return end
  local job = jobOf(lane)
  call('HDEL', P .. 'gt:' .. lane, '=' .. group)
  if call('HLEN', P .. 'gt:' .. lane) == 1 then
    call('DEL', P .. 'gt:' .. lane)
    call('SREM', P .. 'w:' .. queueAndJobOf(lane), lane)
  end
  call('ZREM', P .. 'g:' .. lane, group)
  call('SREM', P .. 'gl:' .. job .. '\\n' .. group, lane)
  if busyOf(job, group) == 0 and call('EXISTS', P .. 'gl:' .. job .. '\\n' .. group) == 0 then
    call('ZREM', P .. 'gh', job .. '\\n' .. group)
  end
end

local function changeBusy(job, group, change)
  add('c', 'g\\n' .. job .. '\\n' .. group, change)
  local lanes = call('SMEMBERS', P .. 'gl:' .. job .. '\\n' .. group)
  for _, lane in ipairs(lanes) do
    if call('ZSCORE', P .. 'g:' .. lane, group) then
      call('ZINCRBY', P .. 'g:' .. lane, change * step, group)
      touched[lane] = true
    end
  end
  if #lanes == 0 and busyOf(job, group) == 0 then call('ZREM', P .. 'gh', job .. '\\n' .. group) end
end

local function serve(lane, group)
  if call('HEXISTS', P .. 'gt:' .. lane, '=' .. group) == 0 then return end
  local turn = nextTurn(lane)
  call('HSET', P .. 'gt:' .. lane, '=' .. group, turn)
  if call('ZSCORE', P .. 'g:' .. lane, group) then
    call('ZADD', P .. 'g:' .. lane, busyOf(jobOf(lane), group) * step + turn, group)
  end
  touched[lane] = true
end

local function hold(job, group, untilAt)
  call('ZADD', P .. 'gh', untilAt, job .. '\\n' .. group)
  for _, lane in ipairs(call('SMEMBERS', P .. 'gl:' .. job .. '\\n' .. group)) do
    call('ZREM', P .. 'g:' .. lane, group)
    touched[lane] = true
  end
end

local function releaseGroups(now)
  for _, name in ipairs(call('ZRANGEBYSCORE', P .. 'gh', '-inf', now)) do
    call('ZREM', P .. 'gh', name)
    local job, group = string.match(name, '^([^\\n]*)\\n(.*)$')
    for _, lane in ipairs(job and call('SMEMBERS', P .. 'gl:' .. name) or {}) do
      local turn = call('HGET', P .. 'gt:' .. lane, '=' .. group)
      if turn then call('ZADD', P .. 'g:' .. lane, busyOf(job, group) * step + (tonumber(turn) or nextTurn(lane)), group) end
      touched[lane] = true
    end
  end
end

-- The first group in line. A group without ready jobs was put there by somebody else, and must not stop those behind it.
local function firstGroup(lane)
  while true do
    local group = call('ZRANGE', P .. 'g:' .. lane, 0, 0)[1]
    if not group or call('EXISTS', P .. 'r:' .. lane .. '\\n' .. group) == 1 then return group end
    call('ZREM', P .. 'g:' .. lane, group)
  end
end

local function firstOf(lane)
  local key = P .. 'r:' .. lane
  if isGrouped(lane) then
    local group = firstGroup(lane)
    if not group then return nil end
    key = key .. '\\n' .. group
  end
  local found = call('ZRANGE', key, 0, 0, 'WITHSCORES')
  return found[2], found[1]
end

local function openLanes()
  for lane in pairs(touched) do
    local first, id = firstOf(lane)
    local before = call('HGET', P .. 'lh', lane)
    local placed = first and (id .. '\\n' .. lane)
    local job, level = string.match(lane, '^([^\\n]*)\\n([^\\n]*)')
    local ofJob, ofLevel = P .. 'o:' .. jobOf(lane), P .. 'op:' .. (level or '')
    if not tonumber(level) then
      -- Nobody but an intruder names a lane so.
      call('ZREM', ofJob, lane)
      call('ZREM', P .. 'open', lane)
    elseif first then
      call('ZADD', ofJob, first, lane)
      if before and before ~= placed then call('ZREM', ofLevel, before) end
      if before ~= placed then call('HSET', P .. 'lh', lane, placed) end
      call('ZADD', ofLevel, first, placed)
      if call('ZADD', P .. 'open', first, lane) == 1 then
        call('ZADD', P .. 'names', 0, job)
        call('ZADD', P .. 'levels', level, level)
        if not isGrouped(lane) then call('SADD', P .. 'w:' .. queueAndJobOf(lane), lane) end
      end
    elseif call('ZREM', P .. 'open', lane) == 1 then
      call('ZREM', ofJob, lane)
      if before then call('ZREM', ofLevel, before) end
      call('HDEL', P .. 'lh', lane)
      if call('EXISTS', ofJob) == 0 then call('ZREM', P .. 'names', job) end
      if call('EXISTS', ofLevel) == 0 then call('ZREM', P .. 'levels', level) end
      if not isGrouped(lane) then call('SREM', P .. 'w:' .. queueAndJobOf(lane), lane) end
    end
  end
end

local function free(scope)
  if call('SREM', P .. 'reached', scope) == 1 then wakes = true end
end

local function wake()
  if wakes then call('PUBLISH', P .. 'wake', '') end
end
`
