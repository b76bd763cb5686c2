/**
 * How scripts read and write heads: a line of fields between bars (stamp, state, run at, attempts, rescues, started at, finished at,
 * end of the lease, flags, claim, owner), and below it what seldom changes. States are called by their places in the list of states.
 */
export const heads = `
local states = { [0] = 'ready', 'scheduled', 'blocked', 'running', 'succeeded', 'dead', 'cancelled', 'skipped' }
local pattern = '^[^|]*|(%d)|([^|]*)|(%d+)|(%d+)|([^|]*)|([^|]*)|([^|]*)|(%d+)|([^|]*)|([^\\n]*)\\n(.*)$'

local function headOf(state, runAt, attempts, rescues, startedAt, finishedAt, leaseUntil, flags, claim, owner, rest)
  return stamp .. '|' .. state .. '|' .. runAt .. '|' .. attempts .. '|' .. rescues .. '|' .. startedAt .. '|' .. finishedAt .. '|'
    .. leaseUntil .. '|' .. flags .. '|' .. claim .. '|' .. owner .. '\\n' .. rest
end

local waiting, nWaiting = {}, 0
local mostWaiting = 2000

-- Written together with others of the same key: a call for each costs more than what it writes.
local function flush()
  for command, keys in pairs(waiting) do
    for key, args in pairs(keys) do call(command, key, unpack(args)) end
  end
  waiting, nWaiting = {}, 0
end

-- Nothing of the script may read it before the flush.
local function later(command, key, ...)
  local keys = waiting[command] or {}
  waiting[command] = keys
  local args = keys[key] or {}
  keys[key] = args
  for at = 1, select('#', ...) do args[#args + 1] = (select(at, ...)) end
  nWaiting = nWaiting + 1
  if nWaiting == mostWaiting then flush() end
end

-- The values of these fields, in their order, a part at a time; false where there is none.
local function valuesOf(key, fields)
  local values = {}
  for from = 1, #fields, mostWaiting do
    local part = call('HMGET', key, unpack(fields, from, math.min(from + mostWaiting - 1, #fields)))
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

local function writeCounts()
  for table, of in pairs(counts) do
    for name, change in pairs(of) do if change ~= 0 then add(table, name, change) end end
  end
end
`
