import type { Language } from './options.ts'

/** How the source files of a project are written: the syntax in which the languages differ, not the content. */
export interface SourceText {
  readonly language: Language
  /** The extension in imports of other project files. */
  readonly importEnding: string
}

/** The file extension. A CommonJS config file has its own extension, whatever the type of the package. */
export function fileEnding({ language }: SourceText, packageType: string | undefined): string {
  if (language === 'typescript') return '.ts'
  if (language === 'commonjs') return packageType === 'module' ? '.cjs' : '.js'
  return packageType === 'module' ? '.js' : '.mjs'
}

/** `names` is a list in braces, or a name for the module as a whole. */
export function importLine({ language }: SourceText, names: string, module: string): string {
  if (language !== 'commonjs') return `import ${names} from '${module}'`
  return `const ${names} = require('${module}')`
}

export function importFile(source: SourceText, names: string, path: string): string {
  return importLine(source, names, `${path}${source.importEnding}`)
}

/** The text for TypeScript only; empty for other languages. */
export function typed({ language }: SourceText, text: string): string {
  return language === 'typescript' ? text : ''
}

/** The keywords that begin an exported constant. */
export function exported({ language }: SourceText): string {
  return language === 'commonjs' ? 'const' : 'export const'
}

/** The exports at the end of a CommonJS file; empty for other languages. */
export function exportLine({ language }: SourceText, ...names: readonly string[]): string {
  return language === 'commonjs' ? `\nmodule.exports = { ${names.join(', ')} }\n` : ''
}
