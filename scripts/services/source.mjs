import { engines } from './engines.mjs'
import { missingMessage } from './missing.mjs'
import { findPrograms } from './programs.mjs'

/** @typedef {import('./engines.mjs').EngineName} EngineName */

/**
 * Where a server comes from.
 *
 * @typedef {{ from: 'url', url: string }
 *   | { from: 'programs', programs: Readonly<Record<string, string>> }
 *   | { from: 'compose' }
 *   | { from: 'nowhere', message: string }} Source
 */

/**
 * @param {EngineName} name
 * @param {import('./machine.mjs').Machine} machine
 * @returns {Source}
 */
export function findSource(name, machine) {
  const { variable, programs, debianPackage } = engines[name]
  const url = machine.env[variable]
  if (url !== undefined && url !== '') return { from: 'url', url }
  const present = findPrograms(programs, machine.folders())
  if (present !== null) return { from: 'programs', programs: present }
  const installProblem = debianPackage === null ? null : machine.install(debianPackage)
  const installed = findPrograms(programs, machine.folders())
  if (installed !== null) return { from: 'programs', programs: installed }
  const composeProblem = machine.composeProblem()
  if (composeProblem === null) return { from: 'compose' }
  return { from: 'nowhere', message: missingMessage(name, { installProblem, composeProblem }) }
}
