import { afterAll, beforeAll, describe, it } from 'vitest'
import { backendConformance } from '../../src/testing/conformance/index.ts'
import { freshPostgres } from './sql-ground.ts'

const ground = freshPostgres()
beforeAll(() => ground.start())
afterAll(() => ground.stop())

backendConformance({ describe, it }, 'postgres', { open: (clock) => ground.open(clock) })
