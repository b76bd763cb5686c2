/**
 * The examples of a page of Markdown. What stands after the language of a fence says how it is run, and is not shown to readers:
 *
 *   file=PATH           the block is a file of the page's project: it is checked, and other blocks may use it. Python is always one
 *   alone               it is run in a process of its own, whose exit code counts
 *   stop-after="TEXT"   it works until it is told to stop: Ctrl-C once it has printed this, and it must end well
 *   exit=N              it ends with this code in place of 0
 *   throws=CODE         it throws a TreadleError with this code
 *   database=ENGINE     it finds a database of a server as DATABASE_URL: postgres, mariadb or mysql
 *   no-run="REASON"     it is only checked for its types
 *
 * A fence ```text output holds what the block before it prints: its lines in this order, `…` for what varies, others may stand
 * between them. `<!-- setup ts … -->` holds lines that stand before each later block that imports nothing from 'treadle', and
 * `<!-- setup sh … -->` commands that are run once, before the next block of commands.
 */
export interface Block {
  readonly page: string
  readonly line: number
  readonly language: 'ts' | 'js' | 'sh' | 'python'
  readonly settings: Readonly<Record<string, string>>
  readonly code: string
  /** What it prints; null where the page does not say. */
  readonly output: string | null
}

export function blocksOf(page: string, markdown: string): readonly Block[] {
  const blocks: Block[] = []
  const setup = { ts: '', sh: '' }
  for (const part of partsOf(markdown)) {
    if (part.kind === 'setup') setup[part.language] = part.text
    else if (part.language === 'text' && 'output' in part.settings) expectOutput(blocks, part)
    else if (isRunnable(part.language)) {
      blocks.push({
        page,
        line: part.line,
        language: part.language,
        settings: part.settings,
        code: withSetup(part, setup),
        output: null,
      })
      if (part.language === 'sh') setup.sh = ''
    }
  }
  return blocks
}

type Part =
  | { readonly kind: 'setup'; readonly language: 'ts' | 'sh'; readonly text: string }
  | {
      readonly kind: 'fence'
      readonly language: string
      readonly line: number
      readonly settings: Readonly<Record<string, string>>
      readonly text: string
    }

function* partsOf(markdown: string): Generator<Part> {
  const lines = markdown.split('\n')
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] as string
    const fence = /^```(\w+)(.*)$/.exec(line)
    const setup = /^<!-- setup (ts|sh)$/.exec(line)
    if (fence === null && setup === null) continue
    const end = lines.indexOf(fence === null ? '-->' : '```', at + 1)
    if (end < 0) throw new Error(`line ${at + 1} opens what is never closed: ${line}`)
    const text = lines.slice(at + 1, end).join('\n')
    if (setup !== null) yield { kind: 'setup', language: setup[1] as 'ts' | 'sh', text }
    if (fence !== null) {
      yield { kind: 'fence', language: fence[1] as string, line: at + 1, settings: settingsOf(fence[2] as string), text }
    }
    at = end
  }
}

function settingsOf(info: string): Readonly<Record<string, string>> {
  const found = info.matchAll(/([\w-]+)(?:=(?:"([^"]*)"|(\S+)))?/g)
  return Object.fromEntries([...found].map(([, name, quoted, plain]) => [name, quoted ?? plain ?? '']))
}

function isRunnable(language: string): language is Block['language'] {
  return ['ts', 'js', 'sh', 'python'].includes(language)
}

function expectOutput(blocks: Block[], { text, line }: { readonly text: string; readonly line: number }): void {
  const block = blocks.pop()
  if (block === undefined || block.output !== null) throw new Error(`line ${line} is the output of no example`)
  blocks.push({ ...block, output: text })
}

function withSetup(part: { readonly language: string; readonly text: string }, setup: { ts: string; sh: string }): string {
  if (part.language === 'python') return part.text
  if (part.language === 'sh') return setup.sh === '' ? part.text : `${setup.sh}\n${part.text}`
  return /\bfrom 'treadle(\/\w+)?'/.test(part.text) || setup.ts === '' ? part.text : `${setup.ts}\n${part.text}`
}

/** Whether the text holds the expected lines in their order. Line by line: one pattern for all of them can take hours to fail. */
export function matchesLoosely(text: string, expected: string): boolean {
  const patterns = expected
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map(patternOf)
  for (const line of text.split('\n')) if (patterns[0]?.test(line)) patterns.shift()
  return patterns.length === 0
}

function patternOf(line: string): RegExp {
  const words = line.trim().split(/\s+/)
  return new RegExp(words.map((word) => word.split('…').map(escaped).join('.*?')).join('\\s+'))
}

function escaped(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&')
}
