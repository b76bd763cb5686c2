/**
 * How scripts read and write heads: a line of fields separated by bars (stamp, state, run at, attempts, rescues, started at,
 * finished at, end of the lease, flags, claim, owner), followed by what rarely changes. States are written as their index in the
 * list of states.
 */
export const heads = `
local states = { [0] = 'ready', 'scheduled', 'blocked', 'running', 'succeeded', 'dead', 'cancelled', 'skipped' }
local pattern = '^[^|]*|([^|]*)|([^|]*)|([^|]*)|([^|]*)|([^|]*)|([^|]*)|([^|]*)|([^|]*)|([^|]*)|([^\\n]*)\\n(.*)$'

-- Anyone who can write to the server may have spoilt a head. A script that fails leaves half of its work behind, so none may fail for it.
local function wholeOf(text)
  local number = tonumber(text)
  return number and number >= 0 and number < 9007199254740992 and number == math.floor(number) and number or nil
end

local function timeOf(text)
  local number = tonumber(text)
  return number and number > -8640000000000000 and number < 8640000000000000 and number or 0
end

local function decodedParts(rest)
  local isRead, parts = pcall(cjson.decode, rest)
  if not isRead or type(parts) ~= 'table' or type(parts[1]) ~= 'string' or type(parts[2]) ~= 'string' then return nil end
  local level = parts[3]
  if type(level) ~= 'number' or level ~= math.floor(level) or math.abs(level) > 2147483648 then return nil end
  return (type(parts[5]) == 'string' or parts[5] == cjson.null) and parts or nil
end

-- What seldom changes, or nil where that cannot be read. Most jobs of a lane differ only in the time at its end.
local known = {}
local function partsOf(rest)
  local start = string.match(rest or '', '^(%[.*,)%d+%]$')
  if not start then return decodedParts(rest or '') end
  local parts = known[start]
  if not parts then
    parts = decodedParts(rest)
    known[start] = parts
  end
  return parts
end

local function headOf(state, runAt, attempts, rescues, startedAt, finishedAt, leaseUntil, flags, claim, owner, rest)
  return stamp .. '|' .. state .. '|' .. runAt .. '|' .. attempts .. '|' .. rescues .. '|' .. startedAt .. '|' .. finishedAt .. '|'
    .. leaseUntil .. '|' .. flags .. '|' .. claim .. '|' .. owner .. '\\n' .. rest
end

-- Writes a list of arguments under one key: a call for each costs more than what it writes.
local mostArgs = 4000
local function put(command, key, args)
  for from = 1, #args, mostArgs do call(command, key, unpack(args, from, math.min(from + mostArgs - 1, #args))) end
end

-- The values of these fields, in their order, a part at a time; false where there is none.
local function valuesOf(key, fields)
  local values = {}
  for from = 1, #fields, mostArgs do
    local part = call('HMGET', key, unpack(fields, from, math.min(from + mostArgs - 1, #fields)))
    for at = 1, #part do values[from + at - 1] = part[at] end
  end
  return values
end

local counts = {}
local function count(table, name, change)
  local of = counts[table] or {}
  counts[table] = of
  of[name] = (of[name] or 0) + change
end

-- How many jobs there are in a state: by queue and job, and the sums of those; nj:JOB and nq tell which queues have any.
local function countJobs(queue, job, state, change)
  count('n:' .. queue, job .. '\\n' .. state, change)
  count('nj:' .. job, queue, change)
  count('nq', queue, change)
  count('ns', state, change)
end

local function writeCounts()
  for table, of in pairs(counts) do
    for name, change in pairs(of) do if change ~= 0 then add(table, name, change) end end
  end
end

-- A job of which nobody can tell what it is: it ends, and what it carried is kept.
local function bury(id, now)
  call('HSET', P .. 'h', id, headOf(5, 0, 0, 0, '', now, 0, 0, '', '', '["","",0,0,null,null,' .. now .. ']'))
  call('HSET', P .. 'x', id, '[null,null,null,"rejected",[{"attempt":0,"at":' .. now
    .. ',"message":"What is stored of it cannot be read","code":"ENVELOPE_MALFORMED"}]]')
  for code = 0, 7 do call('ZREM', P .. 'all:' .. states[code], id) end
  call('ZADD', P .. 'all:dead', 0, id)
  call('ZADD', P .. 'end:dead', now, id)
  countJobs('', '', 'dead', 1)
end

-- Somebody has written another state into the head alone: the indexes follow it.
local function follow(id, from, state)
  if not states[tonumber(state)] then return end
  call('ZREM', P .. 'all:' .. from, id)
  -- One that runs is listed by the end of its lease, which is read from its head when it is over.
  if state == '3' then call('ZADD', P .. 'run', 0, id)
  else call('ZADD', P .. 'all:' .. states[tonumber(state)], 0, id) end
end
`
