// The public exports of the package, read from its types: their names, kinds, sentences and members.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { guideOf } from './guides.mjs'

/**
 * @typedef {object} Export
 * @property {string} name
 * @property {string} kind
 * @property {string} sentence empty where the source says nothing
 * @property {string} text its type, where that is short
 * @property {string | null} guide the page that explains it, with examples
 * @property {readonly { name: string, sentence: string, text: string }[]} members
 */

/** @param {string} root @returns {readonly { entry: string, exports: readonly Export[] }[]} */
export function publicExports(root) {
  const { name, exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const entries = Object.entries(exports).flatMap(([path, target]) =>
    typeof target === 'object'
      ? [{ entry: path.replace(/^\./, name), file: join(root, target.default.replace(/^\.\/dist/, 'src').replace(/js$/, 'ts')) }]
      : [],
  )
  const program = ts.createProgram(
    entries.map(({ file }) => file),
    {
      ...ts.parseJsonConfigFileContent(ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile).config, ts.sys, root)
        .options,
      noEmit: true,
    },
  )
  const checker = program.getTypeChecker()
  return entries.map(({ entry, file }) => {
    const module = checker.getSymbolAtLocation(program.getSourceFile(file))
    const symbols = checker.getExportsOfModule(module)
    return { entry, exports: symbols.map((symbol) => exportOf(symbol, checker, root)).sort((a, b) => (a.name < b.name ? -1 : 1)) }
  })
}

function exportOf(exported, checker, root) {
  const symbol = exported.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(exported) : exported
  const declaration = symbol.declarations?.[0]
  return {
    name: exported.name,
    kind: kindOf(symbol),
    sentence: sentenceOf(symbol, checker) || sentenceOf(exported, checker),
    text: shortText(symbol, declaration, checker),
    members: membersOf(declaration, checker),
    guide: guideOf(declaration?.getSourceFile().fileName.slice(join(root, '/').length) ?? ''),
  }
}

function kindOf({ flags }) {
  if (flags & ts.SymbolFlags.Class) return 'class'
  if (flags & ts.SymbolFlags.Function) return 'function'
  if (flags & ts.SymbolFlags.Interface) return 'interface'
  if (flags & ts.SymbolFlags.TypeAlias) return 'type'
  return 'value'
}

function sentenceOf(symbol, checker) {
  return ts.displayPartsToString(symbol.getDocumentationComment(checker)).replaceAll(/\s+/g, ' ').trim()
}

const longest = 160

/** Of a function its signature, of an alias what it stands for; nothing where that would be a page of its own. */
function shortText(symbol, declaration, checker) {
  if (declaration === undefined) return ''
  if (ts.isTypeAliasDeclaration(declaration)) return limited(declaration.type.getText())
  if (!ts.isFunctionDeclaration(declaration)) return ''
  const type = checker.getTypeOfSymbolAtLocation(symbol, declaration)
  return limited(
    type
      .getCallSignatures()
      .map((signature) => checker.signatureToString(signature))
      .join('\n'),
  )
}

function limited(text) {
  const line = text.replaceAll(/\s+/g, ' ')
  return line.length <= longest ? line : ''
}

/** The public members of an interface or a class, in the order of the source. */
function membersOf(declaration, checker) {
  if (declaration === undefined || !(ts.isInterfaceDeclaration(declaration) || ts.isClassDeclaration(declaration))) return []
  const seen = new Set()
  return declaration.members.flatMap((member) => {
    if (member.name === undefined || !ts.isIdentifier(member.name)) return []
    const hidden = ts.ModifierFlags.Private | ts.ModifierFlags.Protected | ts.ModifierFlags.Static
    if (ts.getCombinedModifierFlags(member) & hidden || seen.has(member.name.text)) return []
    seen.add(member.name.text)
    const own = checker.getSymbolAtLocation(member.name)
    const isMethod = ts.isMethodSignature(member) || ts.isMethodDeclaration(member)
    const optional = member.questionToken === undefined ? '' : '?'
    const type = isMethod || member.type === undefined ? '' : limited(member.type.getText())
    return [
      {
        name: `${member.name.text}${isMethod ? '()' : optional}`,
        sentence: own === undefined ? '' : sentenceOf(own, checker),
        text: type,
      },
    ]
  })
}
