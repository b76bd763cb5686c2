import { existsSync, readFileSync } from 'node:fs'
import { databaseFile, keyFileOf } from '../../app/config/open-backend.ts'
import { environmentVariable, workingFolder } from '../../core/process/environment.ts'

/** Jobs keep their signatures, so the programs of the target need the keys of the source. Null if no note is needed. */
export function keyNote(keys: string | null, to: string): string | null {
  if (keys === null || !existsSync(keys) || environmentVariable('TREADLE_SIGNING_KEY') !== undefined) return null
  const target = databaseFile(to, workingFolder())
  if (target === null)
    return `the jobs are signed with the keys in ${keys}: give them to the programs of the target (TREADLE_SIGNING_KEY_FILE)`
  const others = keyFileOf(target)
  if (existsSync(others) && readFileSync(others).equals(readFileSync(keys))) return null
  const what = existsSync(others) ? `${others} has other keys: add them with "treadle keys"` : `copy it to ${others}`
  return `the jobs are signed with the keys in ${keys}, and are rejected without them; ${what}`
}
