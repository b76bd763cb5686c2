import type { Language } from './options.ts'

/** How the files of a project are written: the ways in which the languages differ, and nothing of what the files say. */
export interface SourceText {
  readonly language: Language
  /** How an import of another file of the project ends. */
  readonly importEnding: string
}

/** The end of the names of the files. A config file of CommonJS says so in its name, whatever the package says. */
export function fileEnding({ language }: SourceText, packageType: string | undefined): string {
  if (language === 'typescript') return '.ts'
  if (language === 'commonjs') return packageType === 'module' ? '.cjs' : '.js'
  return packageType === 'module' ? '.js' : '.mjs'
}

/** `names` is a list in braces, or a name for what the module is as a whole. */
export function importLine({ language }: SourceText, names: string, module: string): string {
  if (language !== 'commonjs') return `import ${names} from '${module}'`
  return `const ${names} = require('${module}')`
}

export function importFile(source: SourceText, names: string, path: string): string {
  return importLine(source, names, `${path}${source.importEnding}`)
}

/** What only TypeScript has. */
export function typed({ language }: SourceText, text: string): string {
  return language === 'typescript' ? text : ''
}

/** `const name = …`, for other files. */
export function exported({ language }: SourceText): string {
  return language === 'commonjs' ? 'const' : 'export const'
}

/** Where CommonJS says at the end what is for other files. */
export function exportLine({ language }: SourceText, ...names: readonly string[]): string {
  return language === 'commonjs' ? `\nmodule.exports = { ${names.join(', ')} }\n` : ''
}
