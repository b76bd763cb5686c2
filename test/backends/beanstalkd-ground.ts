import { randomBytes } from 'node:crypto'
import { engines } from '../../scripts/services/engines.mjs'
import { silentLogger } from '../../src/core/logger.ts'
import { Session } from '../../src/engines/beanstalkd/connection/session.ts'
import type { BeanstalkdBackend, BeanstalkdOptions } from '../../src/engines/beanstalkd/index.ts'
import { openBeanstalkd } from '../../src/engines/beanstalkd/index.ts'

/** Null where there is none: the suites that need it are skipped. */
export function beanstalkdUrl(): string | null {
  return process.env[engines.beanstalkd.variable] || null
}

/** A prefix that no other test has. */
export function freshPrefix(): string {
  return `t${randomBytes(6).toString('hex')}`
}

/** Queues that nobody else uses, on the server that all tests share. */
export function openFresh(options: Partial<BeanstalkdOptions> = {}): Promise<BeanstalkdBackend> {
  return openBeanstalkd({ url: beanstalkdUrl() ?? '', prefix: freshPrefix(), logger: silentLogger, ...options })
}

/** A connection past the backend. */
export function rawSession(url = beanstalkdUrl() ?? ''): Promise<Session> {
  const { hostname, port } = new URL(url)
  return Session.open({ host: hostname, port: Number(port) }, { timeoutMs: 10_000 })
}
