// Writes the pictures of the documentation: npm run diagrams
import { writeFileSync } from 'node:fs'
import { pictures } from './diagrams/pictures.mjs'

for (const [name, svg] of Object.entries(pictures)) writeFileSync(new URL(`../docs/images/${name}.svg`, import.meta.url), svg)
