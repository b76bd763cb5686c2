import { afterAll, beforeAll, describe, it } from 'vitest'
import { backendConformance } from '../../src/testing/conformance/index.ts'
import { freshMysql } from './sql-ground.ts'

const ground = freshMysql('mariadb')
beforeAll(() => ground.start())
afterAll(() => ground.stop())

backendConformance({ describe, it }, 'mariadb', { open: (clock) => ground.open(clock) })
