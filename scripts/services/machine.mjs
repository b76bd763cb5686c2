import { aptInstall, isInstallable } from './apt.mjs'
import { aptUnpack, unpackedPrograms } from './apt-unpack.mjs'
import { composeProblem } from './compose.mjs'
import { engines } from './engines.mjs'
import { programFolders } from './programs.mjs'

/**
 * What a machine has to offer to those who look for a server.
 *
 * @typedef {object} Machine
 * @property {NodeJS.ProcessEnv} env
 * @property {() => readonly string[]} folders in which programs are looked for
 * @property {(debianPackage: string) => string | null} install what was in its way; null when it was installed
 * @property {() => string | null} composeProblem why containers cannot be used; null when they can
 */

/**
 * @param {NodeJS.ProcessEnv} env
 * @param {(message: string) => void} say
 * @returns {Machine}
 */
export function thisMachine(env, say) {
  /** @type {string | null | undefined} */
  let problem
  return {
    env,
    folders: () => [...programFolders(env), ...unpackable.map((name) => unpackedPrograms(name))],
    install: (debianPackage) =>
      unpackable.includes(debianPackage) && !isInstallable(debianPackage, env)
        ? aptUnpack(debianPackage, env, say)
        : aptInstall(debianPackage, env, say),
    composeProblem: () => {
      if (problem === undefined) problem = composeProblem(env)
      return problem
    },
  }
}

const unpackable = Object.values(engines).flatMap(({ mayBeUnpacked, debianPackage }) =>
  mayBeUnpacked && debianPackage !== null ? [debianPackage] : [],
)
