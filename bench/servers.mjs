// How databases come and go on each server, and what it says about itself.

import { connect } from 'node:net'
import { Redis } from 'ioredis'
import { createConnection } from 'mysql2/promise'
import pg from 'pg'

export const servers = { postgres: postgresServer, mariadb: mariadbServer, redis: redisServer, beanstalkd: beanstalkdServer }

/** @param {string} url */
async function postgresServer(url) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const settings = ['server_version', 'fsync', 'full_page_writes', 'synchronous_commit']
  const { rows } = await client.query('SELECT name, setting FROM pg_settings WHERE name = ANY($1)', [settings])
  const { server_version: version, ...durability } = Object.fromEntries(rows.map(({ name, setting }) => [name, setting]))
  return {
    description: describe('PostgreSQL', version, durability),
    create: (name) => client.query(`CREATE DATABASE ${name} TEMPLATE template0`),
    drop: (name) => client.query(`DROP DATABASE ${name} WITH (FORCE)`),
    close: () => client.end(),
  }
}

/** @param {string} url */
async function mariadbServer(url) {
  const connection = await createConnection(url)
  const [[{ version, ...durability }]] = await connection.query(
    'SELECT VERSION() AS version, @@innodb_flush_log_at_trx_commit AS innodb_flush_log_at_trx_commit, @@innodb_doublewrite AS innodb_doublewrite',
  )
  return {
    description: describe('MariaDB', version, durability),
    create: (name) => connection.query(`CREATE DATABASE ${name}`),
    drop: (name) => connection.query(`DROP DATABASE ${name}`),
    close: () => connection.end(),
  }
}

/** It has sixteen databases, called by numbers. @param {string} url */
async function redisServer(url) {
  const client = new Redis(url)
  const version = /redis_version:(\S+)/.exec(await client.info('server'))?.[1]
  const [, appendonly] = /** @type {string[]} */ (await client.config('GET', 'appendonly'))
  const [, appendfsync] = /** @type {string[]} */ (await client.config('GET', 'appendfsync'))
  const empty = async (name) => {
    await client.select(Number(name))
    await client.flushdb()
  }
  return {
    description: describe('Redis', version, { appendonly, appendfsync }),
    nameOf: (made) => String(made % 16),
    create: empty,
    drop: empty,
    close: async () => client.disconnect(),
  }
}

/** Each place has tubes of its own, which vanish when they are empty. @param {string} url */
async function beanstalkdServer(url) {
  const { hostname, port } = new URL(url)
  const socket = connect({ host: hostname, port: Number(port) })
  const text = await new Promise((resolve, reject) => {
    let received = ''
    socket.on('error', reject).on('data', (data) => {
      received += data
      if (/^OK \d+\r\n.*\r\n$/s.test(received)) resolve(received)
    })
    socket.write('stats\r\n')
  })
  socket.destroy()
  const version = /^version: "?([^"\n]*)/m.exec(text)?.[1]
  const nothing = async () => {}
  return { description: describe('Beanstalkd', version, { '-f': '0' }), create: nothing, drop: nothing, close: nothing }
}

function describe(title, version, durability) {
  const settings = Object.entries(durability).map(([name, value]) => `${name} ${value}`)
  return `${title} ${version}, ${settings.join(', ')}`
}
