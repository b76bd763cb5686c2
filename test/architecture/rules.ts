import { basename, dirname } from 'node:path/posix'
import ts from 'typescript'
import type { Source } from './source.ts'

/** Each layer imports from the layers before it, never from those after it; `cli` and `testing` lie side by side, as do
 * `manager`, which talks to a server over the network, and `server`. */
export const layers = [
  'core',
  'client',
  'scheduling',
  'definition',
  'handlers',
  'envelope',
  'queue',
  'engines',
  'execution',
  'telemetry',
  'isolation',
  'worker',
  'app',
  'moving',
  'server',
  'manager',
  'index.ts',
  'cli',
  'testing',
]

export function layerProblems(sources: readonly Source[]): readonly string[] {
  return sources.flatMap(({ path, imports }) => {
    const layer = layerOf(path)
    if (!layers.includes(layer)) return [`${path} lies in no layer: put it into one, or name its layer here`]
    return imports
      .filter((found) => found.relative && !mayImport(layer, layerOf(found.target)))
      .map((found) => `${path}:${found.line} imports ${found.target}: ${layer} lies below or beside it`)
  })
}

function layerOf(path: string): string {
  return path.split('/')[0] ?? path
}

function mayImport(from: string, to: string): boolean {
  if (from === to) return true
  if (from === 'testing' && to === 'cli') return false
  if (from === 'manager' && to === 'server') return false
  return layers.includes(to) && layers.indexOf(to) < layers.indexOf(from)
}

/** What an engine may build on beside the queue's contract and rules: what it shares with its kind, and never another engine. */
const grounds: Readonly<Record<string, readonly string[]>> = {
  sql: ['servers'],
  sqlite: ['sql', 'servers'],
  postgres: ['sql', 'servers'],
  mysql: ['sql', 'servers'],
  redis: ['servers'],
  beanstalkd: ['broker'],
  'service-bus': ['broker'],
  sync: ['memory'],
  coordinated: [],
}

export function engineProblems(sources: readonly Source[]): readonly string[] {
  return sources.flatMap(({ path, imports }) => {
    const engine = engineOf(path)
    if (engine === null) return []
    return imports.flatMap((found) => {
      const other = found.relative ? engineOf(found.target) : null
      const isFine = other === null || other === engine || grounds[engine]?.includes(other)
      return isFine ? [] : [`${path}:${found.line} imports ${found.target}: ${engine} does not build on ${other}`]
    })
  })
}

function engineOf(path: string): string | null {
  return path.startsWith('engines/') ? (path.split('/')[1] ?? null) : null
}

/** Each circle of imports once, types included: two files that need each other are one idea, or three. */
export function cycleProblems(sources: readonly Source[]): readonly string[] {
  const importsOf = new Map(
    sources.map(({ path, imports }) => [path, imports.filter((found) => found.relative).map((found) => found.target)]),
  )
  const done = new Set<string>()
  const problems: string[] = []
  const visit = (path: string, trail: readonly string[]): void => {
    const seenAt = trail.indexOf(path)
    if (seenAt >= 0) problems.push([...trail.slice(seenAt), path].join(' -> '))
    if (seenAt >= 0 || done.has(path)) return
    for (const target of importsOf.get(path) ?? []) visit(target, [...trail, path])
    done.add(path)
  }
  for (const path of importsOf.keys()) visit(path, [])
  return problems
}

const vagueNames = ['utils', 'util', 'helpers', 'helper', 'types', 'common', 'misc']

export function nameProblems(paths: readonly string[]): readonly string[] {
  return paths.flatMap((path) => {
    const names = [...dirname(path).split('/'), basename(path).replace(/\..*$/, '')]
    return names
      .filter((name) => vagueNames.includes(name.toLowerCase()))
      .map((name) => `${path}: "${name}" says nothing of what is inside`)
  })
}

export function unusedCodes(codes: readonly string[], sources: readonly Source[]): readonly string[] {
  const raised = new Set(
    sources.filter(({ path }) => path !== 'core/errors.ts').flatMap(({ nodes }) => nodes.flatMap(raisedCode)),
  )
  return codes.filter((code) => !raised.has(code))
}

/** A code counts where it is given, not where an error is only compared with it. */
function raisedCode(node: ts.Node): readonly string[] {
  if (!ts.isStringLiteralLike(node)) return []
  const { parent } = node
  const compared =
    ts.isBinaryExpression(parent) &&
    [ts.SyntaxKind.EqualsEqualsEqualsToken, ts.SyntaxKind.ExclamationEqualsEqualsToken].includes(parent.operatorToken.kind)
  return compared || ts.isCaseClause(parent) || ts.isLiteralTypeNode(parent) ? [] : [node.text]
}

/** A code is explained where a heading, a table row or a list entry of the page begins with it. */
export function unexplainedCodes(codes: readonly string[], page: string): readonly string[] {
  const explained = explainedCodes(page)
  return codes.filter((code) => !explained.includes(code))
}

export function staleCodes(codes: readonly string[], page: string): readonly string[] {
  return explainedCodes(page).filter((code) => !codes.includes(code))
}

function explainedCodes(page: string): readonly string[] {
  return [...page.matchAll(/^(?:#+|\||[-*])\s*(?:<a [^>]*><\/a>)?[`*]*([A-Z]+(?:_[A-Z]+)*)\b[`*]*/gm)].map((match) => match[1]!)
}
