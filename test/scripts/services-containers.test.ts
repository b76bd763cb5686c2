import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { Compose, composeProblem } from '../../scripts/services/compose.mjs'
import { engines } from '../../scripts/services/engines.mjs'
import { findPrograms, programFolders } from '../../scripts/services/programs.mjs'
import { ServerContainer } from '../../scripts/services/server-container.mjs'
import { scratchFolder } from '../processes/database.ts'
import { keptData } from './kept-data.ts'

const redis = findPrograms(engines.redis.programs, programFolders(process.env))

describe.skipIf(redis === null)('a server in a container', () => {
  let folder: ReturnType<typeof scratchFolder>
  beforeEach(() => {
    folder = scratchFolder()
    vi.stubEnv('PATH', [folder.path, process.env.PATH].join(delimiter))
  })
  afterEach(() => {
    vi.unstubAllEnvs()
    folder.remove()
  })

  test('is made on a free port, ended and started again on its data, and removed by docker compose', async () => {
    docker('exit 0')
    const { put, words } = keptData.redis
    const compose = new Compose('treadle-test', true)
    const server = new ServerContainer(engines.redis, compose)
    try {
      await server.create()
      await put(server.url, 'word')
      await server.restart()
      await server.kill()
      await expect(words(server.url)).rejects.toThrow()
      await server.start()
      expect(await words(server.url)).toEqual(['word'])
    } finally {
      await compose.remove()
    }
    await expect(words(server.url)).rejects.toThrow()
    const asked = readFileSync(folder.file('asked'), 'utf8').trim().split('\n')
    expect(asked).toEqual([
      'up --detach --build redis always',
      ...['stop redis', 'start redis', 'kill redis', 'start redis', 'down --volumes'].map((line) => `${line} always`),
    ])
  })

  test('is possible only where an engine answers that has compose', () => {
    docker('exit 0')
    expect(composeProblem(process.env)).toBeNull()
    docker('[ "$1" = info ]')
    expect(composeProblem(process.env)).toBe('docker has no compose command')
    docker('exit 1')
    expect(composeProblem(process.env)).toBe('no docker engine answers')
    expect(composeProblem({ PATH: folder.file('none') })).toBe('docker is not installed')
  })

  /** Stands in for docker: notes what it is asked for, and runs a real server where the container would. */
  function docker(otherwise: string): void {
    const script = `#!/bin/sh
[ "$1 $2" = "compose --file" ] || { ${otherwise}; exit; }
[ "$5" = treadle-test ] || exit 1
shift 5
cd "${folder.path}"
echo "$@ $REDIS_FSYNC" >> asked
start() {
  "${Object.values(redis ?? {})[0]}" --port "$REDIS_PORT" --bind 127.0.0.1 --save "" --appendonly yes --daemonize yes --pidfile "$PWD/pid" > log
}
end() { pid=$(cat pid); kill -KILL "$pid"; while grep -qs '^State:.[^Z]' "/proc/$pid/status"; do :; done; rm pid; }
case $1 in
  up | start) start ;;
  stop | kill | down) end ;;
esac
`
    writeFileSync(folder.file('docker'), script)
    chmodSync(folder.file('docker'), 0o755)
  }
})

describe('compose.yaml', () => {
  const text = readFileSync(new URL('../../scripts/services/compose.yaml', import.meta.url), 'utf8')

  test('has a container for each server, and binds each to 127.0.0.1', () => {
    const services = [...text.matchAll(/^ {2}(\w+):$/gm)].map(([, name]) => name)
    expect(services).toEqual(Object.keys(engines))
    const ports = [...text.matchAll(/ports: \["(.*?):\$\{(\w+)_PORT:-0\}:\d+"\]/g)]
    expect(ports.map(([, address, name]) => `${address} ${name}`)).toEqual(
      services.map((name) => `127.0.0.1 ${name?.toUpperCase()}`),
    )
  })
})
