// The reference as a page of Markdown.

/** @param {readonly { entry: string, exports: readonly import('./exports.mjs').Export[] }[]} entries */
export function referenceText(entries) {
  const contents = entries.map(({ entry, exports }) => `| [\`${entry}\`](#${anchorOf(entry)}) | ${exports.length} |`)
  return `# Reference

Every export of the package, generated from its types. The link after each leads to the guide that explains it with examples; start with [defining work](defining-work.md). Error codes are on [their own page](errors.md), options of commands in [the command line](cli.md), and the HTTP API describes itself at \`/api/v1/openapi.json\`.

| import from | exports |
|---|---|
${contents.join('\n')}

${entries.map(entryText).join('\n')}`
}

function anchorOf(entry) {
  return entry.replaceAll('/', '')
}

const kinds = [
  ['function', 'Functions'],
  ['value', 'Values'],
  ['class', 'Classes'],
  ['interface', 'Interfaces'],
  ['type', 'Types'],
]

function entryText({ entry, exports }) {
  const parts = kinds.flatMap(([kind, title]) => {
    const some = exports.filter((each) => each.kind === kind)
    return some.length === 0 ? [] : [`**${title}**\n\n${some.map(exportText).join('\n')}\n`]
  })
  return `## ${entry}\n\n${parts.join('\n')}`
}

function exportText({ name, sentence, text, members, guide }) {
  const type = text === '' ? '' : ` \`${quoted(text)}\``
  const line = `- **\`${name}\`**${type}: ${plain(sentence)}${guide === null ? '' : ` [Guide](${guide})`}`
  const explained = members.filter((member) => member.sentence !== '')
  const inside = explained.map((member) => `  - \`${member.name}\`: ${plain(member.sentence)}`)
  const rest = members.filter((member) => member.sentence === '').map((member) => `\`${member.name}\``)
  return [line, ...inside, ...(rest.length === 0 ? [] : [`  - ${explained.length === 0 ? '' : 'also '}${rest.join(', ')}`])].join(
    '\n',
  )
}

/** Nothing outside of code that Markdown would take for a link, a tag or the end of a cell. */
function plain(text) {
  return text
    .split(/(`[^`]*`)/)
    .map((part, index) => (index % 2 === 1 ? part : part.replaceAll(/[|[<]/g, (mark) => `\\${mark}`)))
    .join('')
}

function quoted(text) {
  return text.replaceAll('`', "'")
}
