import ts from 'typescript'
import type { Source } from './source.ts'

const folder = 'queue/contract/'

/** The names of the calls of each part of the contract, beginning with `QueueBackend` and following the parts that it has. */
export function contractCalls(sources: readonly Source[]): Readonly<Record<string, readonly string[]>> {
  const known = new Map(
    sources
      .filter(({ path }) => path.startsWith(folder))
      .flatMap(({ nodes }) => nodes.filter(ts.isInterfaceDeclaration))
      .map((each) => [each.name.text, each] as const),
  )
  const calls = new Map<string, readonly string[]>()
  const follow = (name: string) => {
    const part = known.get(name)
    if (part === undefined || calls.has(name)) return
    const own = part.members.filter(isCall).map(nameOf)
    if (own.length === 0) return
    calls.set(name, own.toSorted())
    for (const member of part.members) for (const reference of partsIn(member)) follow(reference)
  }
  follow('QueueBackend')
  return Object.fromEntries(calls)
}

export function widthOf(calls: Readonly<Record<string, readonly string[]>>): number {
  return Object.values(calls).reduce((sum, { length }) => sum + length, 0)
}

function isCall(member: ts.TypeElement): boolean {
  return ts.isMethodSignature(member) && !ts.isComputedPropertyName(member.name)
}

function nameOf(member: ts.TypeElement): string {
  return (member.name as ts.Identifier).text
}

/** The parts that a property names. What a call takes or answers with is no part. */
function partsIn(member: ts.TypeElement): readonly string[] {
  const found: string[] = []
  const visit = (node: ts.Node): void => {
    if (ts.isTypeReferenceNode(node) && ts.isIdentifier(node.typeName)) found.push(node.typeName.text)
    ts.forEachChild(node, visit)
  }
  if (ts.isPropertySignature(member) && member.type !== undefined) visit(member.type)
  return found
}
