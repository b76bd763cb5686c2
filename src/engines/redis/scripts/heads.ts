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
`
