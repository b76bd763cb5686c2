// Joins the declarations of the exports into one file for each, and few that they share.
import { join, relative } from 'node:path'
import { rollup } from 'rollup'
import { dts } from 'rollup-plugin-dts'
import { entries } from './entries.mjs'

export async function joinDeclarations(modules, folder) {
  const { exported, forBrowsers } = entries()
  const names = [...exported, ...forBrowsers]
  const pathOf = (id) =>
    relative(modules, id)
      .replaceAll('\\', '/')
      .replace(/\.d\.ts$/, '')
  const bundle = await rollup({
    input: Object.fromEntries(names.map((name) => [name, join(modules, `${name}.d.ts`)])),
    external: (id) => !id.startsWith('.') && !id.startsWith(modules),
    plugins: [dts({ tsconfig: false })],
    onLog: refuse,
  })
  await bundle.write({
    dir: folder,
    plugins: [{ name: 'references', renderChunk: (text) => `${references(text)}${text}` }],
    format: 'es',
    entryFileNames: '[name].d.ts',
    chunkFileNames: ({ moduleIds }) => `${pathOf(moduleIds.at(-1))}.d.ts`,
    minifyInternalExports: false,
  })
  await bundle.close()
}

/** A program that names no types of Node and no newer library (`types`, `lib`) has these all the same. */
function references(text) {
  const ofNode = /\bfrom 'node:/.test(text) ? '/// <reference types="node" />\n' : ''
  const disposable = /\bAsyncDisposable\b|\bSymbol\.asyncDispose\b/.test(text)
    ? '/// <reference lib="esnext.disposable" />\n'
    : ''
  return `${ofNode}${disposable}`
}

function refuse(level, log) {
  // Types that a signature names and no entry exports: they are in the shared files, and cannot be named by programs, as meant.
  if (level !== 'warn' || log.message.includes('private shared type exports')) return
  throw new Error(`The declarations could not be joined: ${log.message}`)
}
