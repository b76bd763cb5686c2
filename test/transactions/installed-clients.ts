import { createRequire } from 'node:module'

const require = createRequire(new URL('../clients/package.json', import.meta.url))

/** A package of `test/clients`, which has an install of its own: one of them is compiled, and no first use of Treadle waits for that. */
export function requireClient(name: string): unknown {
  try {
    return require(name)
  } catch (cause) {
    throw new Error(`The tests need ${name}. Run all tests with "npm test", or: npm ci --prefix test/clients`, { cause })
  }
}
