// Bundles the page of the dashboard into a folder: scripts that load each other by need, one style sheet, and what describes them.
// Names carry a digest of the contents, so that browsers may keep the files for ever.
import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { build } from 'esbuild'

const source = fileURLToPath(new URL('../../src/server/dashboard/page', import.meta.url))

export async function buildPage(folder) {
  mkdirSync(folder, { recursive: true })
  const { metafile } = await build({
    entryPoints: [join(source, 'main.tsx')],
    outdir: folder,
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    bundle: true,
    splitting: true,
    format: 'esm',
    target: 'es2022',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    minify: true,
    legalComments: 'none',
    metafile: true,
    logLevel: 'warning',
  })
  const [entry] = Object.entries(metafile.outputs).filter(([, output]) => output.entryPoint?.endsWith('main.tsx'))
  const preload = entry[1].imports.filter(({ kind }) => kind === 'import-statement').map(({ path }) => basename(path))
  const style = await compiled(folder, 'app.css', 'css')
  const theme = await compiled(folder, 'theme.ts', 'js')
  for (const [name, text] of icons()) writeFileSync(join(folder, name), text)
  const files = readdirSync(folder)
  for (const name of files) {
    const bytes = readFileSync(join(folder, name))
    writeFileSync(join(folder, `${name}.gz`), gzipSync(bytes, { level: 9 }))
    writeFileSync(join(folder, `${name}.br`), brotliCompressSync(bytes))
  }
  const manifest = { script: basename(entry[0]), style, theme, preload, files }
  writeFileSync(join(folder, 'manifest.json'), JSON.stringify(manifest))
}

/** The icon, and the same with a dot in its corner that says how bad things are. */
function icons() {
  const plain = readFileSync(join(source, 'icon.svg'), 'utf8')
  const marked = (colour) =>
    plain.replace('</svg>', `<circle cx="23" cy="23" r="8" fill="${colour}" stroke="#fff" stroke-width="2"/></svg>`)
  return [
    ['icon.svg', plain],
    ['icon-problem.svg', marked('#d9332a')],
    ['icon-warning.svg', marked('#e8a200')],
  ]
}

/** A file that is loaded as one, with what it imports. */
async function compiled(folder, name, ending) {
  const { outputFiles } = await build({
    entryPoints: [join(source, name)],
    bundle: true,
    minify: true,
    write: false,
    target: 'es2022',
    format: ending === 'js' ? 'iife' : undefined,
  })
  const [{ contents }] = outputFiles
  const digest = createHash('sha256').update(contents).digest('base64url').slice(0, 8)
  const built = `${name.split('.')[0]}-${digest}.${ending}`
  writeFileSync(join(folder, built), contents)
  return built
}
