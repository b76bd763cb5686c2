import ts from 'typescript'

export type Bindings = ReadonlyMap<ts.Node, ReadonlySet<string>>

/** The global that a node uses, and how: `process`, `process.env`, `setTimeout()`, `new Date()`. */
export function globalIn(node: ts.Node, bindings: Bindings): string | undefined {
  const used = ts.isIdentifier(node) && isReference(node) && !isBound(node, bindings)
  return used ? usage(node, node.text) : undefined
}

/** The names that each scope declares itself: a parameter called `process` is not the global one. */
export function bindingsOf(nodes: readonly ts.Node[]): Bindings {
  const bindings = new Map<ts.Node, Set<string>>()
  for (const node of nodes) {
    const name = declaredName(node)
    if (name === undefined) continue
    const scope = scopeAround(node.parent)
    bindings.set(scope, (bindings.get(scope) ?? new Set()).add(name))
  }
  return bindings
}

function declaredName(node: ts.Node): string | undefined {
  const declares =
    ts.isVariableDeclaration(node) ||
    ts.isParameter(node) ||
    ts.isBindingElement(node) ||
    ts.isFunctionDeclaration(node) ||
    ts.isClassDeclaration(node) ||
    ts.isImportSpecifier(node) ||
    ts.isImportClause(node) ||
    ts.isNamespaceImport(node)
  return declares && node.name !== undefined && ts.isIdentifier(node.name) ? node.name.text : undefined
}

function scopeAround(node: ts.Node): ts.Node {
  let scope = node
  while (!ts.isSourceFile(scope) && !ts.isBlock(scope) && !ts.isFunctionLike(scope) && !ts.isIterationStatement(scope, false)) {
    if (ts.isCatchClause(scope)) break
    scope = scope.parent
  }
  return scope
}

/** `globalThis.Date.now` is `Date.now`. */
function usage(node: ts.Node, name: string): string {
  const { parent } = node
  const member = memberOf(parent, node)
  if (member !== undefined) return name === 'globalThis' || name === 'global' ? usage(parent, member) : `${name}.${member}`
  if (ts.isNewExpression(parent) && parent.expression === node && (parent.arguments ?? []).length === 0) return `new ${name}()`
  return ts.isCallExpression(parent) && parent.expression === node ? `${name}()` : name
}

function memberOf(access: ts.Node, object: ts.Node): string | undefined {
  if (ts.isPropertyAccessExpression(access) && access.expression === object) return access.name.text
  if (ts.isElementAccessExpression(access) && access.expression === object) return literalText(access.argumentExpression)
  return undefined
}

/** An identifier that stands for a value, not for the name of a member, a label or a declaration. */
function isReference(node: ts.Identifier): boolean {
  const { parent } = node
  if (ts.isShorthandPropertyAssignment(parent)) return true
  if (ts.isQualifiedName(parent)) return parent.left === node && ts.isTypeQueryNode(parent.parent)
  if (ts.isExportSpecifier(parent) || ts.isImportSpecifier(parent)) return false
  if (ts.isBindingElement(parent) && parent.propertyName === node) return false
  if (ts.isTypeReferenceNode(parent)) return false
  return !('name' in parent && parent.name === node)
}

function isBound(node: ts.Identifier, bindings: Bindings): boolean {
  for (let scope: ts.Node | undefined = node; scope !== undefined; scope = scope.parent) {
    if (bindings.get(scope)?.has(node.text)) return true
  }
  return false
}

function literalText(node: ts.Node): string | undefined {
  return ts.isStringLiteralLike(node) ? node.text : undefined
}
