import { createHash } from 'node:crypto'

/** A script that is called by its digest. The server caches it until its cache is flushed. */
export interface Script {
  readonly text: string
  readonly digest: string
}

export function script(text: string): Script {
  const whole = `${guard}${text}`
  return { text: whole, digest: createHash('sha1').update(whole).digest('hex') }
}

/**
 * A script that fails leaves half of its work behind, so none may fail because something else has replaced a key of the queue by
 * one of another type. Such a key is renamed, noted for the programs that use the queue (see `SpoiltKeys`), and the command runs
 * as if the key did not exist. Any other error is raised as usual.
 */
const guard = `local redis = (function(server)
  local function setAside(key)
    local name = string.sub(key, #KEYS[1] + 1)
    local kind = server.pcall('TYPE', key).ok
    local aside = server.pcall('RENAME', key, KEYS[1] .. 'spoilt:' .. name)
    if not kind or aside.err then return end
    local time = server.call('TIME')
    local text = string.format('found|%s|%.0f', kind, time[1] * 1000)
    if type(server.pcall('HSET', KEYS[1] .. 'spoilt', name, text)) == 'number' then return end
    server.call('DEL', KEYS[1] .. 'spoilt')
    server.call('HSET', KEYS[1] .. 'spoilt', name, text)
  end
  local function call(...)
    local answer = server.pcall(...)
    if type(answer) ~= 'table' or not answer.err then return answer end
    if string.find(answer.err, 'WRONGTYPE', 1, true) then setAside(select(2, ...)) end
    return server.call(...)
  end
  return { call = call, pcall = server.pcall, sha1hex = server.sha1hex }
end)(redis)
`

/** A key that never exists. */
export const noKey = 'none'

/**
 * A script that also runs while the memory of the server is full. A full server refuses a script at its first write if that may
 * need memory, and lets one go on that has begun with a deletion. What ends jobs and frees their memory must not wait for
 * memory; only what stores new jobs may be refused.
 */
export function scriptEvenWhenFull(text: string): Script {
  return script(`redis.call('DEL', KEYS[1] .. '${noKey}')\n${text}`)
}
