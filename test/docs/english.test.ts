import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { describe, expect, test } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** What an English-speaking engineer would not say, and what they would. */
const odd: readonly (readonly [RegExp, string])[] = [
  [/\bso many\b/i, 'a number, "this many", or "maximum …"'],
  [/\bfor so long\b/i, 'for that time'],
  [/\bcan not\b/i, 'cannot'],
  [/\b(?:whoever|whosever|whomever|to whomever)\b/i, 'anyone who, everyone who'],
  [/\b(?:is|are|was|were|be|being|been) told\b/i, 'is reported, is logged, learns'],
  [/\btold (?:apart|in|of)\b/i, 'identified by, described in, informed of'],
  [/\b(?:it|they|that|there) never (?:was|were)\b/i, 'it never existed'],
  [/\bgives? way\b/i, 'can be overridden'],
  [/\b(?:kept no longer|no longer kept)\b/i, 'its retention period has passed'],
  [/\bin vain\b/i, 'without effect'],
  [/\bleaves? (?:it|them|the \w+) away\b/i, 'omit'],
  [/\bmend(?:s|ed|ing)?\b(?!\()/i, 'fix'],
  [/\b(?:is|are|was|were|be) said\b/i, 'is set, is given'],
  [/\b(?:begin|begins|begun|began|made|makes?|starts?|started) anew\b/i, 'again'],
  [/\bwhat runs goes on\b/i, 'running jobs continue'],
  [/\b(?:make|makes|made) up for\b/i, 'catch up'],
  [/\bsigns? of life\b/i, 'heartbeat'],
  [/\bfor ever\b/i, 'forever'],
  [/\bnobody (?:was there|knows|saw|caught)\b/i, 'no scheduler was running, is unknown, was missed, uncaught'],
  [/\b(?:what|where) (?:became|becomes) of\b/i, 'what happened to, the outcome of'],
  [/\bthe (?:work|job|handler) gave\b(?! up)/i, 'returned'],
  [/\bwhere (?:none|nobody|no one)\b/i, 'if no …'],
  [/\ball the same\b/i, 'anyway'],
  [/\bprint only trouble\b/i, 'only print errors and warnings'],
  [/\bby whomever\b/i, 'by any program'],
  [/\bought to be\b/i, 'should be'],
  [/\bgo(?:es)? on behind\b/i, 'continue after'],
  [/\b(?:nobody|no one) (?:gets|learns|listens|looks|follows)\b/i, 'say what happens instead'],
]

/** Where one of them is right. */
const allowed: readonly RegExp[] = [/^ *-- |\n *-- /] // comments of Lua scripts, which nobody is shown

function oddities(text: string): readonly string[] {
  return odd.flatMap(([pattern, instead]) => {
    const found = pattern.exec(text)
    if (found === null || allowed.some((exception) => exception.test(text))) return []
    const around = text.slice(Math.max(0, found.index - 40), found.index + found[0].length + 40).replaceAll('\n', ' ')
    return [`"${found[0]}" (${instead}) in: …${around}…`]
  })
}

function filesIn(folder: string, ending: RegExp): readonly string[] {
  const entries = readdirSync(join(root, folder), { withFileTypes: true, recursive: true })
  return entries
    .filter((entry) => entry.isFile() && ending.test(entry.name) && !entry.parentPath.includes('node_modules'))
    .map((entry) => join(entry.parentPath, entry.name))
}

/** The texts that a program prints, throws or shows: its literals, without comments and the names of imported modules. */
function literalsOf(file: string): readonly string[] {
  const kind = file.endsWith('x') ? ts.ScriptKind.TSX : ts.ScriptKind.TS
  const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true, kind)
  const texts: string[] = []
  const visit = (node: ts.Node): void => {
    if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node) || ts.isJsxText(node)) texts.push(node.text)
    else if (ts.isTemplateHead(node) || ts.isTemplateMiddle(node) || ts.isTemplateTail(node)) texts.push(node.text)
    ts.forEachChild(node, visit)
  }
  visit(source)
  return texts.filter((text) => /\s/.test(text))
}

describe('plain English', () => {
  test('finds odd phrases where they are', () => {
    expect(oddities('It never was, or so many jobs are told apart')).toHaveLength(4)
    expect(oddities('Run as many workers as you like')).toEqual([])
    expect(oddities('What runs goes on; missed runs are not made up for')).toHaveLength(2)
  })

  const pages = [
    ...['README.md', 'CHANGELOG.md', 'SECURITY.md', 'CONTRIBUTING.md', 'bench/README.md'].map((name) => join(root, name)),
    // The rows of engines.md are titles of the conformance suite, which engines declare their gaps by.
    ...filesIn('docs', /\.md$/).filter((page) => !page.endsWith('docs/engines.md')),
    ...filesIn('examples', /\.(?:md|tsx?|mjs|ya?ml)$/),
  ]
  test.each(pages.map((page) => page.slice(root.length)))('%s has no odd phrases', (page) => {
    const lines = readFileSync(join(root, page), 'utf8').split('\n')
    const found = lines.flatMap((line, index) => oddities(line).map((oddity) => `${page}:${index + 1} ${oddity}`))
    expect(found).toEqual([])
  })

  test('messages, help texts and pages of the program have none either', () => {
    const sources = filesIn('src', /\.tsx?$/).filter((file) => !file.includes('/src/testing/conformance/'))
    expect(sources.length).toBeGreaterThan(300)
    const found = sources.flatMap((file) =>
      literalsOf(file).flatMap((text) => oddities(text).map((oddity) => `${file.slice(root.length)} ${oddity}`)),
    )
    expect(found).toEqual([])
  })
})
