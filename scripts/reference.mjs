// Writes docs/reference.md from the types: node scripts/reference.mjs
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { publicExports } from './reference/exports.mjs'
import { referenceText } from './reference/text.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
writeFileSync(new URL('../docs/reference.md', import.meta.url), referenceText(publicExports(root)))
