// Markdown to HTML: headings get the anchors that GitHub gives them, links lead to the pages of the site, and nothing of a page is raw HTML.
import { dirname, posix } from 'node:path'
import { Marked } from 'marked'

/**
 * @param {import('./pages.mjs').Page} page
 * @param {ReadonlyMap<string, string>} targets where each source is in the site
 */
export function rendered(page, targets) {
  const headings = []
  const images = new Set()
  const marked = new Marked({ gfm: true })
  marked.use({
    renderer: {
      heading({ tokens, depth, text }) {
        const id = anchorOf(text)
        headings.push({ id, depth, text: plain(text) })
        return `<h${depth} id="${id}">${this.parser.parseInline(tokens)}<a class="anchor" href="#${id}" aria-label="Link to this section">#</a></h${depth}>\n`
      },
      link({ href, tokens }) {
        const target = linkOf(page, href, targets)
        const text = this.parser.parseInline(tokens)
        return target === null ? text : `<a href="${escaped(target)}">${text}</a>`
      },
      image({ href, text }) {
        const source = posix.join(posix.dirname(page.source), href)
        images.add(source)
        return `<img src="${escaped(relativeTo(page.target, imageTarget(source)))}" alt="${escaped(text)}" loading="lazy">`
      },
      code({ text, lang }) {
        const [language = '', ...settings] = (lang ?? '').split(/\s+/)
        const file = settings.map((setting) => /^file="?([^"]+)"?$/.exec(setting)?.[1]).find(Boolean)
        const label = settings.includes('output') ? 'output' : (file ?? language)
        const title = label === '' ? '' : `<figcaption>${escaped(label)}</figcaption>`
        return `<figure class="code${settings.includes('output') ? ' output' : ''}">${title}<pre tabindex="0"><code>${highlighted(text, language)}</code></pre></figure>\n`
      },
      table(token) {
        const cells = (row, tag) => row.map(({ tokens }) => `<${tag}>${this.parser.parseInline(tokens)}</${tag}>`).join('')
        const head = token.header.some(({ text }) => text !== '') ? `<thead><tr>${cells(token.header, 'th')}</tr></thead>` : ''
        const body = token.rows.map((row) => `<tr>${cells(row, 'td')}</tr>`).join('\n')
        return `<div class="table" tabindex="0" role="group" aria-label="Table"><table>${head}<tbody>${body}</tbody></table></div>\n`
      },
      html: ({ text }) => (text.startsWith('<!--') ? '' : escaped(text)),
    },
  })
  return { html: marked.parse(page.markdown), headings, images: [...images] }
}

/** As GitHub makes them, and as test/docs.test.ts checks them. */
export function anchorOf(heading) {
  return plain(heading)
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-')
}

function plain(markdown) {
  return markdown.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').replaceAll('`', '')
}

/** Null for what is no page of the site, such as a folder of sources or the license. */
function linkOf(page, href, targets) {
  if (href.startsWith('#') || /^[a-z]+:/.test(href)) return href
  const [path, anchor] = href.split('#')
  const source = posix.join(posix.dirname(page.source), path)
  if (source.startsWith('docs/images/')) return relativeTo(page.target, imageTarget(source))
  const target = targets.get(source)
  if (target === undefined) return null
  return `${relativeTo(page.target, target)}${anchor === undefined ? '' : `#${anchor}`}`
}

export function imageTarget(source) {
  return source.replace(/^docs\//, '')
}

export function relativeTo(from, to) {
  return posix.relative(dirname(from), to) || posix.basename(to)
}

const words =
  /\b(import|export|from|const|let|async|await|function|return|new|if|else|for|of|throw|try|catch|finally|class|extends|readonly|interface|type|default|while|switch|case)\b/

/** Comments, texts and words of the language. More is not worth a library. */
function highlighted(text, language) {
  if (!['ts', 'js', 'sh', 'yaml', 'dockerfile', 'ini'].includes(language)) return escaped(text)
  const comment = language === 'ts' || language === 'js' ? String.raw`\/\/[^\n]*|\/\*[\s\S]*?\*\/` : String.raw`(?<=^|\s)#[^\n]*`
  const tokens = new RegExp(`(?<comment>${comment})|(?<string>'[^'\\n]*'|"[^"\\n]*"|\`[^\`]*\`)|(?<word>${words.source})`, 'gm')
  let html = ''
  let at = 0
  for (const match of text.matchAll(tokens)) {
    const [kind] = Object.entries(match.groups ?? {}).find(([, value]) => value !== undefined) ?? []
    const isPlain = kind === 'word' && !['ts', 'js'].includes(language)
    html += escaped(text.slice(at, match.index))
    html += isPlain ? escaped(match[0]) : `<span class="${kind}">${escaped(match[0])}</span>`
    at = match.index + match[0].length
  }
  return html + escaped(text.slice(at))
}

export function escaped(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}
