import { afterAll, beforeAll, describe, it } from 'vitest'
import { backendConformance } from '../../src/testing/conformance/index.ts'
import { SqlGround } from './sql-ground.ts'

const ground = new SqlGround('mariadb')
beforeAll(() => ground.start())
afterAll(() => ground.stop())

backendConformance({ describe, it }, 'mariadb', { open: (clock) => ground.open(clock), execute: ground.query })
