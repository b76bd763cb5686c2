import { describe, expect, test } from 'vitest'
import { mysqlConfig } from '../../../src/engines/mysql/options.ts'
import { postgresConfig } from '../../../src/engines/postgres/options.ts'

const configOf = { postgres: postgresConfig, mysql: mysqlConfig }

describe('a parameter in the URL of a SQL database', () => {
  test.each([
    ['postgres', 'shema=x', 'schema'],
    ['postgres', 'notfy=false', 'notify'],
    ['postgres', 'listenurl=x', 'listenUrl'],
    ['mysql', 'prefx=x_', 'prefix'],
    ['mysql', 'conections=2', 'connections'],
  ] as const)('of %s that is misspelt is refused: %s', (engine, parameter, meant) => {
    const [name] = parameter.split('=')
    const message = `The ${engine} backend: unknown parameter "${name}" in its url, did you mean "${meant}"?`
    expect(() => configOf[engine]({ url: `${engine}://host/app?${parameter}` })).toThrow(
      expect.objectContaining({ code: 'CONFIG_INVALID', message }),
    )
  })

  test.each([
    ['postgres', 'sslmode=require&application_name=shop&query_timeout=5000&connect_timeout=3&options=-c%20jit%3Doff'],
    ['mysql', 'connectTimeout=3000&connectionLimit=5&charset=utf8mb4&timezone=Z'],
  ] as const)('of %s that is the driver’s is left to it', (engine, parameters) => {
    const { url } = configOf[engine]({ url: `${engine}://host/app?${parameters}` })
    expect(new URL(url).search).toBe(`?${parameters}`)
  })
})
