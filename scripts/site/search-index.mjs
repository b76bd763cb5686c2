// What the search knows: a document for each section of each page.
import MiniSearch from 'minisearch'
import { anchorOf } from './markdown.mjs'
import { searchOptions } from './search-options.mjs'

/** @param {readonly import('./pages.mjs').Page[]} pages */
export function searchIndex(pages) {
  const search = new MiniSearch(searchOptions)
  search.addAll(pages.flatMap(sectionsOf).map((section, id) => ({ id, ...section })))
  return JSON.stringify(search)
}

function sectionsOf({ markdown, target, title }) {
  const sections = [{ page: title, heading: title, url: target, text: '' }]
  let inFence = false
  // Comments hold what the tests run before an example, which readers are not shown.
  for (const line of markdown.replaceAll(/^<!--[\s\S]*?^-->$/gm, '').split('\n')) {
    if (line.startsWith('```')) inFence = !inFence
    const heading = inFence ? null : /^##+ (.+)$/.exec(line)
    if (heading !== null) {
      sections.push({ page: title, heading: heading[1].replaceAll('`', ''), url: `${target}#${anchorOf(heading[1])}`, text: '' })
    } else if (!line.startsWith('```') && !line.startsWith('# ')) {
      const section = sections[sections.length - 1]
      section.text += `${line.replaceAll(/\]\([^)]*\)/g, ']').replaceAll(/[|`*#[\]]/g, ' ')}\n`
    }
  }
  return sections
}
