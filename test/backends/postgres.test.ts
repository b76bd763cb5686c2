import { afterAll, beforeAll, describe, it } from 'vitest'
import { backendConformance } from '../../src/testing/conformance/index.ts'
import { SqlGround } from './sql-ground.ts'

const ground = new SqlGround('postgres')
beforeAll(() => ground.start())
afterAll(() => ground.stop())

backendConformance({ describe, it }, 'postgres', { open: (clock) => ground.open(clock), execute: ground.query })
