import { chmodSync, readdirSync, readFileSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { childrenOf } from '../../scripts/services/children.mjs'
import type { EngineName } from '../../scripts/services/engines.mjs'
import { isAlive } from '../processes/alive.ts'
import { scratchFolder } from '../processes/database.ts'
import { endPrograms, eventually, type Program, startProgram } from '../processes/program.ts'
import { canStart } from '../services.ts'

const engines: readonly EngineName[] = ['postgres', 'mariadb', 'redis', 'beanstalkd']
const all = engines.filter(canStart)
const quickest = all.slice(-1)
const onLinux = process.platform === 'linux'

let folder: ReturnType<typeof scratchFolder>
beforeEach(() => {
  folder = scratchFolder()
  // The servers may run as another user, who has to get through.
  chmodSync(folder.path, 0o711)
})
afterEach(async () => {
  await endPrograms()
  folder.remove()
})

describe('no server and no folder stays behind when the process that started them', () => {
  test('is killed', async () => {
    const parent = startParent('wait', all)
    const pids = await serversOf(parent)
    expect(pids.map(isAlive)).toEqual(all.map(() => true))
    parent.signal('SIGKILL')
    await everythingGone(pids)
  })

  test.each(['SIGTERM', 'SIGINT'] as const)('gets %s', async (signal) => {
    const parent = startParent('wait', quickest)
    const pids = await serversOf(parent)
    parent.signal(signal)
    await everythingGone(pids)
  })

  test.each([
    ['comes to its end', 'end'],
    ['throws', 'throw'],
  ])('%s', async (_, then) => {
    await everythingGone(await serversOf(startParent(then, quickest)))
  })

  test.skipIf(!onLinux)('is killed while they are being started', async () => {
    const parent = startParent('wait', all)
    await eventually('their folder is made', () => readdirSync(folder.path).length > 0)
    await parent.kill()
    await everythingGone([])
    expect(processesOf(folder.path)).toEqual([])
  })
})

test.skipIf(!onLinux)('no server stays behind when the process that guards them is killed', async () => {
  const parent = startParent('wait', all)
  const pids = await serversOf(parent)
  const [guard] = childrenOf(parent.pid)
  process.kill(guard!, 'SIGKILL')
  await eventually('all of them are gone', () => !pids.some(isAlive))
})

function startParent(then: string, names: readonly EngineName[]): Program {
  return startProgram('services-parent', { names, folder: folder.path, then })
}

async function serversOf(parent: Program): Promise<readonly number[]> {
  const [, pids = ''] = (await parent.line('started')).split(' ')
  return pids.split(',').map(Number)
}

async function everythingGone(pids: readonly number[]): Promise<void> {
  await eventually('all of them are gone', () => !pids.some(isAlive))
  await eventually('their folder is gone', () => readdirSync(folder.path).length === 0)
}

/** The command lines of the processes that were started with a path in this folder. */
function processesOf(path: string): readonly string[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  return pids.map((pid) => commandLineOf(pid)).filter((text) => text.includes(path) && !text.includes('services-parent'))
}

/** Empty when it has ended. */
function commandLineOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
  } catch {
    return ''
  }
}
