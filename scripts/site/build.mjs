import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { pageHtml } from './layout.mjs'
import { imageTarget, rendered } from './markdown.mjs'
import { readPages } from './pages.mjs'
import { searchIndex } from './search-index.mjs'

const own = fileURLToPath(new URL('.', import.meta.url))

/** Writes the whole site into a folder, in place of what it holds. */
export async function buildSite(root, folder) {
  const pages = readPages(root)
  const targets = new Map(pages.map(({ source, target }) => [source, target]))
  const contents = pages.map((page) => rendered(page, targets))
  rmSync(folder, { recursive: true, force: true })
  for (const [index, page] of pages.entries()) write(join(folder, page.target), pageHtml(page, contents[index], pages))
  for (const image of new Set(contents.flatMap(({ images }) => images))) {
    mkdirSync(dirname(join(folder, imageTarget(image))), { recursive: true })
    cpSync(join(root, image), join(folder, imageTarget(image)))
  }
  // A script and not JSON: browsers fetch nothing for pages that are opened as files.
  write(join(folder, 'assets/search-index.js'), `globalThis.treadleSearchIndex = ${JSON.stringify(searchIndex(pages))}\n`)
  write(join(folder, 'assets/icon.svg'), readFileSync(join(root, 'src/server/dashboard/page/icon.svg'), 'utf8'))
  await buildAssets(folder)
  return { pages }
}

async function buildAssets(folder) {
  await build({
    entryPoints: ['client.mjs', 'theme.mjs', 'site.css'].map((name) => join(own, 'assets', name)),
    outdir: join(folder, 'assets'),
    bundle: true,
    minify: true,
    format: 'iife',
    target: 'es2022',
    legalComments: 'none',
    logLevel: 'warning',
  })
}

function write(path, text) {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}
