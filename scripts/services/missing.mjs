import { engines } from './engines.mjs'

/**
 * What was looked for, why it is not there, and how to get it.
 *
 * @param {import('./engines.mjs').EngineName} name
 * @param {import('./source.mjs').Machine} machine
 */
export function missingMessage(name, machine) {
  const { title, variable, example, programs, debianPackage } = engines[name]
  const sets = programs.map((set) => set.join(' with ')).join(', or ')
  const tried = [
    `${variable} is not set`,
    ...(sets === '' ? [] : [`${sets}: not on the PATH and not in a usual folder`]),
    ...(debianPackage === null ? [] : [`apt-get: ${machine.aptObstacle() ?? 'it installed no such program'}`]),
    `docker compose: ${machine.composeObstacle()}`,
  ]
  const ways = [
    ...(debianPackage === null ? [] : [`install it, for instance: sudo apt-get install ${debianPackage}`]),
    `or start a docker engine`,
    `or name a server that runs already: ${variable}=${example}`,
  ]
  return [
    `${title} is missing.`,
    ...tried.map((line) => `  - ${line}`),
    `To get it: ${ways.join('; ').replace(/^or /, '')}.`,
  ].join('\n')
}
