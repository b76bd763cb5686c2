import { readdirSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import ts from 'typescript'
import { bindingsOf, globalIn } from './globals.ts'
import { importIn } from './imports.ts'

/** One source file, read for what it imports and which globals it uses. */
export interface Source {
  /** Relative to src/, with forward slashes: `core/time/clock.ts`. */
  readonly path: string
  readonly nodes: readonly ts.Node[]
  readonly imports: readonly Import[]
  readonly globals: readonly GlobalUse[]
}

export interface Import {
  /** The path in src/ for a relative import, the name of the package otherwise: `core/time/clock.ts`, `undici`, `node:crypto`. */
  readonly target: string
  readonly relative: boolean
  /** What is imported by name; `*` for all at once, as by a default, a namespace or a dynamic import. */
  readonly names: readonly string[]
  readonly line: number
}

/** `process` alone, or with the member that is used of it: `Date.now`, `new Date()`. */
export interface GlobalUse {
  readonly name: string
  readonly line: number
}

export function readSources(folder: string): readonly Source[] {
  return pathsUnder(folder)
    .filter((path) => /\.m?[jt]s$/.test(path))
    .map((path) => parseSource(path, readFileSync(join(folder, path), 'utf8')))
}

/** Of our own: not of installed packages. */
export function pathsUnder(folder: string): readonly string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => posix.relative(folder, posix.join(entry.parentPath, entry.name)))
    .filter((path) => !path.includes('node_modules/'))
}

export function parseSource(path: string, text: string): Source {
  const syntax = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true)
  const nodes = nodesOf(syntax)
  const bindings = bindingsOf(nodes)
  const line = (node: ts.Node) => syntax.getLineAndCharacterOfPosition(node.getStart(syntax)).line + 1
  const imports = nodes.flatMap((node) => {
    const found = importIn(node)
    if (found === undefined) return []
    const relative = found.specifier.startsWith('.')
    const target = relative ? posix.join(posix.dirname(path), found.specifier) : packageOf(found.specifier)
    return [{ target, relative, names: found.names, line: line(node) }]
  })
  const globals = nodes.flatMap((node) => {
    const name = globalIn(node, bindings)
    return name === undefined ? [] : [{ name, line: line(node) }]
  })
  return { path, nodes, imports, globals }
}

function nodesOf(root: ts.Node): readonly ts.Node[] {
  const nodes: ts.Node[] = []
  const visit = (node: ts.Node): void => {
    nodes.push(node)
    ts.forEachChild(node, visit)
  }
  visit(root)
  return nodes
}

function packageOf(specifier: string): string {
  if (specifier.startsWith('node:')) return specifier
  const parts = specifier.split('/')
  return parts.slice(0, specifier.startsWith('@') ? 2 : 1).join('/')
}
