/**
 * What one kind of server needs: how it is found, how it is run, and when it answers.
 *
 * @typedef {object} Engine
 * @property {string} name also of its container in compose.yaml
 * @property {string} title as people write it
 * @property {string} variable the variable of the environment with the URL of a server that runs already
 * @property {string} example such a URL
 * @property {readonly (readonly string[])[]} programs sets of programs that run it, the preferred one first; none where it runs in a container only
 * @property {string | null} debianPackage
 * @property {true} [mayBeUnpacked] where this release has no such package, that of its backports is unpacked beside the system
 * @property {NodeJS.Signals} stopSignal asks it to end in good order and without waiting for its clients
 * @property {(port: number) => string} url
 * @property {(setting: Setting) => readonly string[] | null} prepare the command that makes its data folder; null where it needs none
 * @property {(setting: Setting) => readonly string[]} run the command that serves until it is stopped
 * @property {(url: string) => Promise<void>} ping rejects while it does not answer
 *
 * @typedef {object} Setting
 * @property {Readonly<Record<string, string>>} programs where each program is
 * @property {string} folder for its data, and for nothing else
 * @property {number} port
 * @property {boolean} durable whether what it acknowledged must outlive the machine, or only its process
 */
export {}
