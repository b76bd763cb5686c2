import { chmodSync, mkdirSync, realpathSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Machine } from '../../scripts/services/machine.mjs'
import { findPrograms } from '../../scripts/services/programs.mjs'
import { findSource } from '../../scripts/services/source.mjs'
import { scratchFolder } from '../processes/database.ts'

let folder: ReturnType<typeof scratchFolder>
beforeEach(() => {
  folder = scratchFolder()
})
afterEach(() => folder.remove())

describe('a server comes', () => {
  test('from the URL in the environment before anything else', () => {
    const bin = programs('bin', 'redis-server')
    const url = 'redis://127.0.0.1:6379'
    const machine = machineWith({ env: { TREADLE_TEST_REDIS_URL: url }, folders: () => [bin], composeProblem: () => null })
    expect(findSource('redis', machine)).toEqual({ from: 'url', url })
  })

  test('from installed programs before any are installed, and an empty URL is none', () => {
    const bin = programs('bin', 'valkey-server')
    const machine = machineWith({
      env: { TREADLE_TEST_REDIS_URL: '' },
      folders: () => [bin],
      install: () => expect.unreachable(),
      composeProblem: () => null,
    })
    expect(findSource('redis', machine)).toEqual({ from: 'programs', programs: { 'valkey-server': join(bin, 'valkey-server') } })
  })

  test('from the package that is installed for it, also where that makes a new folder', () => {
    const folders: string[] = []
    const machine = machineWith({
      folders: () => folders,
      install: (debianPackage) => {
        folders.push(programs(debianPackage, 'postgres', 'initdb'))
        return null
      },
      composeProblem: () => null,
    })
    const bin = folder.file('postgresql')
    expect(findSource('postgres', machine)).toEqual({
      from: 'programs',
      programs: { postgres: join(bin, 'postgres'), initdb: join(bin, 'initdb') },
    })
  })

  test('from a container where nothing can be installed, and MySQL from nowhere else', () => {
    const machine = machineWith({ composeProblem: () => null })
    expect(findSource('mariadb', machine)).toEqual({ from: 'compose' })
    expect(findSource('mysql', { ...machine, install: () => expect.unreachable() })).toEqual({ from: 'compose' })
  })

  test('from nowhere, and then it is said what was looked for and how to get it', () => {
    expect(findSource('postgres', machineWith({}))).toEqual({
      from: 'nowhere',
      message: `PostgreSQL is missing.
  - TREADLE_TEST_POSTGRES_URL is not set
  - postgres and initdb: neither on the PATH nor in a usual folder
  - apt-get: only root can install packages
  - docker compose: no docker engine answers
Install it, for instance with: sudo apt-get install postgresql
Or start a docker engine, or name a server that runs already: TREADLE_TEST_POSTGRES_URL=postgres://user:password@127.0.0.1:5432/postgres`,
    })
    expect(findSource('redis', machineWith({ install: () => null }))).toMatchObject({
      message: expect.stringMatching(/redis-server, or valkey-server: neither.*\n.* apt-get: the package holds no such program/),
    })
    expect(findSource('mysql', machineWith({}))).toEqual({
      from: 'nowhere',
      message: `MySQL is missing.
  - TREADLE_TEST_MYSQL_URL is not set
  - docker compose: no docker engine answers
Start a docker engine, or name a server that runs already: TREADLE_TEST_MYSQL_URL=mysql://user:password@127.0.0.1:3306/test`,
    })
  })
})

describe('programs', () => {
  test('are found in the first folder that has the main one, and the others beside it', () => {
    const [older, newer] = [programs('14', 'postgres', 'initdb'), programs('17', 'postgres', 'initdb')]
    const found = findPrograms([['postgres', 'initdb']], [folder.file('none'), newer, older])
    expect(found).toEqual({ postgres: join(newer, 'postgres'), initdb: join(newer, 'initdb') })
  })

  test('that lack one of their set, or cannot be run, are not found', () => {
    const bin = programs('bin', 'mariadbd', 'redis-server', 'beanstalkd')
    chmodSync(join(bin, 'redis-server'), 0o644)
    mkdirSync(join(bin, 'initdb'))
    expect(findPrograms([['mariadbd', 'mariadb-install-db']], [bin])).toBeNull()
    expect(findPrograms([['redis-server']], [bin])).toBeNull()
    expect(findPrograms([['initdb']], [bin])).toBeNull()
    expect(findPrograms([['valkey-server'], ['beanstalkd']], [bin])).toEqual({ beanstalkd: join(bin, 'beanstalkd') })
  })
})

/** A machine on which nothing can be had, apart from what is said. */
function machineWith(offer: Partial<Machine>): Machine {
  return {
    env: {},
    folders: () => [],
    install: () => 'only root can install packages',
    composeProblem: () => 'no docker engine answers',
    ...offer,
  }
}

/** A folder with programs in it. */
function programs(name: string, ...files: readonly string[]): string {
  const path = folder.file(name)
  mkdirSync(path)
  for (const file of files) writeFileSync(join(path, file), '', { mode: 0o755 })
  return realpathSync(path)
}
