import { afterAll, beforeAll, describe, it } from 'vitest'
import { backendConformance } from '../../src/testing/conformance/index.ts'
import { mysqlUrl } from '../services.ts'
import { SqlGround } from './sql-ground.ts'

describe.skipIf(mysqlUrl() === null)('on MySQL itself', () => {
  const ground = new SqlGround('mysql')
  beforeAll(() => ground.start())
  afterAll(() => ground.stop())

  backendConformance({ describe, it }, 'mysql', { open: (clock) => ground.open(clock), execute: ground.query })
})
