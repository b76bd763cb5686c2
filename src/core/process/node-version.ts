import { TreadleError } from '../errors.ts'
import { nodeVersion } from './environment.ts'

/** The oldest Node that has all that is used; `package.json` says the same, which npm only warns about. */
const oldest = [20, 19] as const

/** Throws `NODE_UNSUPPORTED` if this Node is too old: otherwise the first function that it lacks fails, far from the cause. */
export function refuseOldNode(version: string = nodeVersion()): void {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  if (major > oldest[0] || (major === oldest[0] && minor >= oldest[1])) return
  throw new TreadleError('NODE_UNSUPPORTED', `Treadle needs Node ${oldest.join('.')} or newer, and this is Node ${version}`)
}
