import { engines } from './engines.mjs'

/**
 * What was looked for, why it was not found, and how to get it.
 *
 * @param {import('./engines.mjs').EngineName} name
 * @param {{ installProblem: string | null, composeProblem: string }} problems
 */
export function missingMessage(name, { installProblem, composeProblem }) {
  const { title, variable, example, programs, debianPackage } = engines[name]
  const sets = programs.map((set) => set.join(' and ')).join(', or ')
  return [
    `${title} is missing.`,
    `  - ${variable} is not set`,
    ...(sets === '' ? [] : [`  - ${sets}: neither on the PATH nor in a usual folder`]),
    ...(debianPackage === null ? [] : [`  - apt-get: ${installProblem ?? 'the package holds no such program'}`]),
    `  - docker compose: ${composeProblem}`,
    ...(debianPackage === null ? [] : [`Install it, for instance with: sudo apt-get install ${debianPackage}`]),
    `${debianPackage === null ? 'Start' : 'Or start'} a docker engine, or name a server that runs already: ${variable}=${example}`,
  ].join('\n')
}
