import ts from 'typescript'

/** Every way in which a module can be named: import, export from, import type, import(), require(), resolve(), getBuiltinModule(). */
export function importIn(node: ts.Node): { specifier: string; names: readonly string[] } | undefined {
  if (ts.isImportDeclaration(node)) return { specifier: textOf(node.moduleSpecifier), names: importedNames(node.importClause) }
  if (ts.isExportDeclaration(node) && node.moduleSpecifier !== undefined) {
    const clause = node.exportClause
    const names = clause !== undefined && ts.isNamedExports(clause) ? clause.elements.map(originalName) : ['*']
    return { specifier: textOf(node.moduleSpecifier), names }
  }
  if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) {
    return { specifier: textOf(node.argument.literal), names: node.qualifier ? [node.qualifier.getText().split('.')[0]!] : ['*'] }
  }
  if (ts.isCallExpression(node) && loadsModules(node.expression)) {
    const [first] = node.arguments
    return first !== undefined && ts.isStringLiteralLike(first) ? { specifier: first.text, names: ['*'] } : undefined
  }
  return undefined
}

function loadsModules(callee: ts.Expression): boolean {
  if (callee.kind === ts.SyntaxKind.ImportKeyword) return true
  const name = ts.isPropertyAccessExpression(callee) ? callee.name.text : ts.isIdentifier(callee) ? callee.text : ''
  return ['require', 'resolve', 'getBuiltinModule'].includes(name)
}

function importedNames(clause: ts.ImportClause | undefined): readonly string[] {
  if (clause === undefined) return []
  const named = clause.namedBindings
  const names = named === undefined ? [] : ts.isNamedImports(named) ? named.elements.map(originalName) : ['*']
  return clause.name === undefined ? names : ['*', ...names]
}

function originalName(specifier: ts.ImportSpecifier | ts.ExportSpecifier): string {
  return (specifier.propertyName ?? specifier.name).text
}

function textOf(node: ts.Node): string {
  return ts.isStringLiteralLike(node) ? node.text : ''
}
