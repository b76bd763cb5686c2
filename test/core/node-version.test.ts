import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { refuseOldNode } from '../../src/core/process/node-version.ts'

it.each(['18.20.8', '20.11.1', '20.18.3'])('Node %s is refused, and told which one is needed', (version) => {
  const message = `Treadle needs Node 20.19 or newer, and this is Node ${version}`
  expect(() => refuseOldNode(version)).toThrow(expect.objectContaining({ code: 'NODE_UNSUPPORTED', message }))
})

it.each(['20.19.0', '20.20.2', '22.0.0', '24.21.0'])('Node %s is not', (version) => {
  expect(() => refuseOldNode(version)).not.toThrow()
})

it('the oldest one is the one that the package names', () => {
  const { engines } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
  expect(() => refuseOldNode('20.18.0')).toThrow(engines.node.replace('>=', 'needs Node '))
})
