import { execFile, spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const file = fileURLToPath(new URL('./compose.yaml', import.meta.url))

/**
 * Why containers cannot be used here; null when they can.
 *
 * @param {NodeJS.ProcessEnv} env
 */
export function composeProblem(env) {
  const settings = { env, stdio: /** @type {const} */ ('ignore'), timeout: 10_000 }
  const engine = spawnSync('docker', ['info'], settings)
  if (engine.error) return 'docker is not installed'
  if (engine.status !== 0) return 'no docker engine answers'
  return spawnSync('docker', ['compose', 'version'], settings).status === 0 ? null : 'docker has no compose command'
}

/** The containers of one run of the services. */
export class Compose {
  #project
  /** @type {Record<string, string>} */
  #variables

  /**
   * @param {string} project
   * @param {boolean} durable
   */
  constructor(project, durable) {
    this.#project = project
    this.#variables = {
      POSTGRES_FSYNC: durable ? 'on' : 'off',
      INNODB_FLUSH: durable ? '1' : '2',
      REDIS_FSYNC: durable ? 'always' : 'no',
      BEANSTALKD_FSYNC: durable ? '-f0' : '-F',
    }
  }

  /**
   * @param {string} service
   * @param {number} port
   */
  create(service, port) {
    this.#variables[`${service.toUpperCase()}_PORT`] = `${port}`
    return this.#run('up', '--detach', '--build', service)
  }

  /** @param {string} service */
  start(service) {
    return this.#run('start', service)
  }

  /** @param {string} service */
  stop(service) {
    return this.#run('stop', service)
  }

  /** @param {string} service */
  kill(service) {
    return this.#run('kill', service)
  }

  /** Takes the containers away, with their data. */
  remove() {
    return this.#run('down', '--volumes')
  }

  /** @param {string[]} args */
  async #run(...args) {
    const command = ['compose', '--file', file, '--project-name', this.#project, ...args]
    await promisify(execFile)('docker', command, { env: { ...process.env, ...this.#variables } })
  }
}
