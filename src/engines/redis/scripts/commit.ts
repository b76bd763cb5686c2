import { indexes } from './indexes.ts'

/**
 * Compares what a unit has read with what is stored, then writes all of its changes or none. All comparisons come before the
 * first write, because a script's writes are not undone. Arguments may contain several units, each preceded by the number of its
 * texts. Returns for each the check that refused it, or an empty text.
 *
 * Checks: `f` a field, `t` a text, `l` part of a sorted set (`=` the same text, `#` the same digest, `^` the same beginning,
 * empty if it must not exist), `a` a count that must not have grown, `m` the mutex. A `.` ends them.
 */
export const commitScript = `
${indexes}
local at = 1
local function take() at = at + 1; return ARGV[at - 1] end

local function isSame(found, expected)
  if expected == '' then return not found end
  if not found then return false end
  local kind, text = string.sub(expected, 1, 1), string.sub(expected, 2)
  if kind == '=' then return found == text end
  if kind == '^' then return string.sub(found, 1, #text) == text end
  return redis.sha1hex(found) == text
end

local checks = {
  f = function() return isSame(call('HGET', P .. take(), take()), take()) end,
  t = function() return isSame(call('GET', P .. take()), take()) end,
  l = function()
    local key, first, last = take(), take(), take()
    return isSame(table.concat(call('ZRANGE', P .. key, first, last), '\\0'), take())
  end,
  a = function()
    local name, most = take(), take()
    return (tonumber(call('HGET', P .. 'c', name) or 0) or 0) <= tonumber(most)
  end,
  m = function()
    local found, own = call('GET', P .. 'mutex'), take()
    if own == '' then return not found end
    return found == own
  end,
}
local function refusal()
  for letter in take do
    if letter == '.' then return '' end
    if not checks[letter]() then return letter end
  end
end

local ops = {
  S = function() call('HSET', P .. take(), take(), take()) end,
  D = function() call('HDEL', P .. take(), take()) end,
  A = function() call('ZADD', P .. take(), take(), take()) end,
  R = function() call('ZREM', P .. take(), take()) end,
  U = function() call('DEL', P .. take()) end,
  L = function() call('RPUSH', P .. take(), take()) end,
  P = function() call('SET', P .. take(), take(), 'PX', take()) end,
  C = function() add(take(), take(), take()) end,
  Y = function() enterReady(take(), take(), take(), take()) end,
  N = function() leaveReady(take(), take(), take()) end,
  B = function() changeBusy(take(), take(), tonumber(take())) end,
  V = function() serve(take(), take()) end,
  H = function() hold(take(), take(), take()) end,
  X = function() call('SADD', P .. 'reached', take()) end,
  F = function() free(take()) end,
  T = function()
    local root, id, state = take(), take(), take()
    call('ZREM', P .. 'root:' .. root, id)
    if state ~= '' then add('gone', root .. '\\n' .. state, 1) end
    if call('EXISTS', P .. 'root:' .. root) == 0 then
      for _, each in ipairs({ 'succeeded', 'dead', 'cancelled', 'skipped' }) do call('HDEL', P .. 'gone', root .. '\\n' .. each) end
    end
  end,
  O = function()
    local schedule, instant, text, isUnended = take(), take(), take(), take()
    if text == '' then
      call('HDEL', P .. 'oc', schedule .. '\\n' .. instant)
      call('ZREM', P .. 'occ:' .. schedule, instant)
    else
      call('HSET', P .. 'oc', schedule .. '\\n' .. instant, text)
      call('ZADD', P .. 'occ:' .. schedule, instant, instant)
    end
    if isUnended == '' then call('ZREM', P .. 'ou:' .. schedule, instant)
    else call('ZADD', P .. 'ou:' .. schedule, instant, instant) end
    if call('EXISTS', P .. 'occ:' .. schedule) == 1 then call('SADD', P .. 'timed', schedule)
    else call('SREM', P .. 'timed', schedule) end
  end,
  Q = function()
    local schedule = take()
    for _, instant in ipairs(call('ZRANGE', P .. 'occ:' .. schedule, 0, -1)) do
      call('HDEL', P .. 'oc', schedule .. '\\n' .. instant)
    end
    call('DEL', P .. 'occ:' .. schedule, P .. 'ou:' .. schedule)
    call('SREM', P .. 'timed', schedule)
  end,
  G = function() releaseGroups(take()) end,
  M = function()
    local name, removedAt = take(), take()
    call('ZADD', P .. 'schx', nextRevision(), name)
    if removedAt == '' then call('ZREM', P .. 'schr', name) else call('ZADD', P .. 'schr', removedAt, name) end
  end,
  W = function() wakes = true end,
  K = function()
    local key, header, isWanted, id = take(), take(), take(), take()
    if isWanted == '1' or call('EXISTS', P .. key) == 1 then
      call('HSET', P .. key, '', header)
      call('ZADD', P .. 'parcels', 0, id)
    end
  end,
}
local answers, following = {}, 1
while following <= #ARGV do
  at = following + 1
  following = at + tonumber(ARGV[following])
  local refused = refusal()
  if refused == '' then while at < following do ops[take()]() end end
  answers[#answers + 1] = refused
end
openLanes()
wake()
return answers
`
