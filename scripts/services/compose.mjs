import { execFile, spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const file = fileURLToPath(new URL('./compose.yaml', import.meta.url))

/**
 * Why containers can not be used here; null when they can.
 *
 * @param {NodeJS.ProcessEnv} env
 */
export function composeObstacle(env) {
  const settings = { env, stdio: /** @type {const} */ ('ignore'), timeout: 10_000 }
  const engine = spawnSync('docker', ['info'], settings)
  if (engine.error) return 'docker is not installed'
  if (engine.status !== 0) return 'no docker engine answers'
  return spawnSync('docker', ['compose', 'version'], settings).status === 0 ? null : 'docker has no compose command'
}

/** The containers of one run of the services. */
export class Compose {
  #project
  #env

  /**
   * @param {string} project
   * @param {boolean} durable
   */
  constructor(project, durable) {
    this.#project = project
    this.#env = {
      POSTGRES_FSYNC: durable ? 'on' : 'off',
      MYSQL_FLUSH_AT_COMMIT: durable ? '1' : '2',
      REDIS_FSYNC: durable ? 'always' : 'no',
      BEANSTALKD_FSYNC: durable ? '-f0' : '-F',
    }
  }

  /**
   * @param {string} service
   * @param {number} port
   */
  up(service, port) {
    this.#env[`${service.toUpperCase()}_PORT`] = `${port}`
    return this.#run('up', '--detach', '--build', service)
  }

  /**
   * @param {'start' | 'stop' | 'kill'} action
   * @param {string} service
   */
  change(action, service) {
    return this.#run(action, service)
  }

  /** Removes the containers with their data. */
  down() {
    return this.#run('down', '--volumes', '--timeout', '5')
  }

  /** @param {string[]} args */
  async #run(...args) {
    const command = ['compose', '--file', file, '--project-name', this.#project, ...args]
    await promisify(execFile)('docker', command, { env: { ...process.env, ...this.#env } })
  }
}
