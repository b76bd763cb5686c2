import { once } from 'node:events'
import { chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { engines } from '../../../scripts/services/engines.mjs'
import { freePort } from '../../../scripts/services/port.mjs'
import { findPrograms, programFolders } from '../../../scripts/services/programs.mjs'
import { answering } from '../../../scripts/services/readiness.mjs'
import { serverAccount, startServerCommand } from '../../../scripts/services/server-command.mjs'

const programs = findPrograms([['pgbouncer']], programFolders(process.env))

/** Where it is not installed, and cannot be (`npm test` does that as root on Debian), its tests are skipped. */
export const hasPgBouncer = programs !== null

/** The pooler that people put before a server, in transaction mode: each transaction of a client gets another connection, in turn. */
export interface PgBouncer extends AsyncDisposable {
  readonly url: string
}

export async function startPgBouncer(serverUrl: string, connections: number): Promise<PgBouncer> {
  const { hostname, port: serverPort, username, pathname } = new URL(serverUrl)
  const folder = mkdtempSync(join(tmpdir(), 'treadle-pgbouncer-'))
  const port = await freePort()
  const settings = [
    '[databases]',
    `* = host=${hostname} port=${serverPort} user=${decodeURIComponent(username)}`,
    '[pgbouncer]',
    'listen_addr = 127.0.0.1',
    `listen_port = ${port}`,
    'unix_socket_dir =',
    'auth_type = any',
    'pool_mode = transaction',
    `default_pool_size = ${connections}`,
    // The oldest connection first: a client has another one each time.
    'server_round_robin = 1',
  ]
  writeFileSync(join(folder, 'pgbouncer.ini'), `${settings.join('\n')}\n`)
  const { uid, gid } = serverAccount
  if (uid !== undefined && gid !== undefined) chownSync(folder, uid, gid)
  const logFile = join(folder, 'log')
  const child = startServerCommand([programs?.pgbouncer as string, '-q', 'pgbouncer.ini'], { folder, logFile })
  const url = `postgres://${username}@127.0.0.1:${port}${pathname}`
  const ended = once(child, 'exit')
  const stop = async () => {
    child.kill('SIGTERM')
    await ended
    rmSync(folder, { recursive: true, force: true })
  }
  try {
    await answering(
      () => engines.postgres.ping(url),
      () => child.exitCode !== null,
    )
  } catch (thrown) {
    await stop()
    throw thrown
  }
  return { url, [Symbol.asyncDispose]: stop }
}
