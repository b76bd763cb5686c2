import { once } from 'node:events'
import { connect } from 'node:net'
import { createConnection } from 'mysql2/promise'
import pg from 'pg'
import type { EngineName } from '../../scripts/services/engines.mjs'

/** Puts a word into a server, and looks whether it is there, each on a connection of its own. */
export interface KeptData {
  put(url: string, word: string): Promise<void>
  words(url: string): Promise<readonly string[]>
}

export const keptData: Readonly<Record<EngineName, KeptData>> = {
  postgres: {
    put: async (url, word) => {
      await postgres(url, 'CREATE TABLE IF NOT EXISTS words (word text)')
      await postgres(url, `INSERT INTO words VALUES ('${word}')`)
    },
    words: (url) => postgres(url, 'SELECT word FROM words'),
  },
  mariadb: { put: putMysql, words: (url) => mysql(url, 'SELECT word FROM words') },
  mysql: { put: putMysql, words: (url) => mysql(url, 'SELECT word FROM words') },
  redis: { put: pushRedis, words: redisWords },
  valkey: { put: pushRedis, words: redisWords },
  beanstalkd: {
    put: async (url, word) => {
      await line(url, `put 0 0 60 ${word.length}\r\n${word}\r\n`)
    },
    words: async (url) => (await line(url, 'peek-ready\r\n')).split('\r\n').slice(1, -1),
  },
}

async function putMysql(url: string, word: string): Promise<void> {
  await mysql(url, 'CREATE TABLE IF NOT EXISTS words (word text)')
  await mysql(url, `INSERT INTO words VALUES ('${word}')`)
}

async function pushRedis(url: string, word: string): Promise<void> {
  await line(url, `RPUSH words ${word}\r\n`)
}

async function redisWords(url: string): Promise<readonly string[]> {
  return (await line(url, 'LRANGE words 0 -1\r\n')).split('\r\n').filter((part) => /^\w/.test(part))
}

async function postgres(url: string, sql: string): Promise<readonly string[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query<{ word: string }>(sql)).rows.map(({ word }) => word)
  } finally {
    await client.end()
  }
}

async function mysql(url: string, sql: string): Promise<readonly string[]> {
  const connection = await createConnection(url)
  try {
    const [rows] = await connection.query(sql)
    return Array.isArray(rows) ? rows.map((row) => (row as { word: string }).word) : []
  } finally {
    await connection.end()
  }
}

async function line(url: string, text: string): Promise<string> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  try {
    socket.write(text)
    const [answer] = await once(socket, 'data')
    return `${answer}`
  } finally {
    socket.destroy()
  }
}
