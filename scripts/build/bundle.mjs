// Joins the compiled modules into few files. Each module is in exactly one of them, for a second copy of a class or of a registry
// would be another one; what is imported by need stays in a file of its own.
import { join, relative } from 'node:path'
import { build } from 'esbuild'
import { rollup } from 'rollup'
import { entries } from './entries.mjs'

/**
 * Folders of src/ that are loaded as a whole by whoever needs any of them: each becomes one file, worker/ becomes worker.js. The
 * others (the command line, the server, …) have parts that most programs never load, and are divided by what loads them.
 */
const wholes = /^(engines\/[^/]+|app|core|definition|envelope|execution|handlers|isolation|queue|scheduling|telemetry|worker)\//
/** In a file under its own path, by which it finds all others. */
const ownFile = 'core/files/own-file'
/** Threads that share no object with their program: a second copy of a module is only another text there. */
const threads = ['engines/sqlite/thread/thread', 'isolation/parent-watch-thread']

/** Joins the modules of one folder into another one. */
export async function bundle(modules, folder) {
  const { exported, forBrowsers, commands, begun: begunByPath } = entries()
  const begun = begunByPath.filter((path) => !threads.includes(path))
  const pathOf = (id) => relative(modules, id).replaceAll('\\', '/').replace(/\.js$/, '')
  const whole = (id) => {
    const path = pathOf(id)
    if (path === ownFile) return ownFile
    return begun.includes(path) ? undefined : wholes.exec(path)?.[1]
  }
  const chunkFileNames = ({ name, moduleIds }) =>
    `${moduleIds.some((id) => whole(id) === name) ? name : pathOf(moduleIds.at(-1))}.js`
  const output = await joined(modules, [...exported, ...commands, ...begun], folder, { manualChunks: whole, chunkFileNames })
  // Browsers have none of Node's modules, which the files of Node share: what they need is a whole of its own.
  for (const entry of forBrowsers) await joined(modules, [entry], folder)
  await joinThreads(modules, folder)
  return output
}

async function joined(modules, names, dir, options = {}) {
  const input = Object.fromEntries(names.map((name) => [name, join(modules, `${name}.js`)]))
  const bundle = await rollup({
    input,
    external: (id) => !id.startsWith('.') && !id.startsWith(modules),
    // Nothing is left out: what is compiled is what runs.
    treeshake: false,
    preserveEntrySignatures: 'strict',
    onLog: refuse,
  })
  const { output } = await bundle.write({
    dir,
    format: 'es',
    entryFileNames: '[name].js',
    minifyInternalExports: false,
    hoistTransitiveImports: false,
    ...options,
  })
  await bundle.close()
  return output
}

/** Each is one file with nothing but what it uses: a thread compiles half as much before its first answer. */
async function joinThreads(modules, outdir) {
  const entryPoints = Object.fromEntries(threads.map((path) => [path, join(modules, `${path}.js`)]))
  await build({ entryPoints, outdir, bundle: true, platform: 'node', format: 'esm', packages: 'external', logLevel: 'warning' })
}

/** A circle of files or a missing export is a fault of the division. */
function refuse(level, log) {
  // The compiler's helpers look for `this`, which no module has.
  if (level !== 'warn' || log.code === 'THIS_IS_UNDEFINED') return
  throw new Error(`The modules could not be joined: ${log.message}`)
}
