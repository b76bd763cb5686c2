// Builds the documentation as a static website: npm run site [-- FOLDER]. It needs no server: open index.html.
import { fileURLToPath } from 'node:url'
import { buildSite } from './site/build.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const folder = process.argv[2] ?? fileURLToPath(new URL('../site', import.meta.url))
const { pages } = await buildSite(root, folder)
console.log(`${pages.length} pages in ${folder}; open ${folder}/index.html`)
