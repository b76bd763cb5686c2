import { readManifest, usesPackage } from './package-json.ts'

/** The guide for a framework that the project uses and that has a server and a build of its own; null if there is none. */
export function guideFor(root: string): { readonly framework: string; readonly page: string } | null {
  const manifest = readManifest(root)
  return guides.find(({ name }) => usesPackage(manifest, name)) ?? null
}

const guides = [
  { name: 'next', framework: 'Next.js', page: 'node_modules/treadle/docs/frameworks/nextjs.md' },
  { name: '@nestjs/core', framework: 'NestJS', page: 'node_modules/treadle/docs/frameworks/nestjs.md' },
  { name: '@react-router/dev', framework: 'React Router', page: 'node_modules/treadle/docs/frameworks/react-router.md' },
  { name: 'nuxt', framework: 'Nuxt', page: 'node_modules/treadle/docs/frameworks/nuxt.md' },
]
