// What surrounds the text of a page: navigation, search, the list of its sections, and links to its neighbours.
import { escaped, relativeTo } from './markdown.mjs'

const policy = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'"

/**
 * @param {import('./pages.mjs').Page} page
 * @param {{ html: string, headings: readonly { id: string, depth: number, text: string }[] }} content
 * @param {readonly import('./pages.mjs').Page[]} pages
 */
export function pageHtml(page, content, pages) {
  const to = (target) => escaped(relativeTo(page.target, target))
  const at = pages.indexOf(page)
  const [previous, next] = [pages[at - 1], pages[at + 1]]
  const parts = content.headings.filter(({ depth }) => depth === 2 || depth === 3)
  return `<!doctype html>
<html lang="en" data-root="${to('index.html').replace(/index\.html$/, '')}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(page.target === 'index.html' ? 'Treadle: background jobs and cron' : `${page.title} · Treadle`)}</title>
<link rel="icon" href="${to('assets/icon.svg')}">
<link rel="stylesheet" href="${to('assets/site.css')}">
<script src="${to('assets/theme.js')}"></script>
<script src="${to('assets/client.js')}" defer></script>
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header>
<button type="button" id="menu" aria-expanded="false" aria-controls="navigation">Menu</button>
<a class="home" href="${to('index.html')}">Treadle</a>
<div class="search" role="search">
<input type="search" id="search" placeholder="Search" aria-label="Search the documentation" autocomplete="off">
<div id="results" hidden></div>
</div>
<button type="button" id="theme" aria-label="Switch between light and dark">◐</button>
</header>
<div class="columns">
<nav id="navigation" aria-label="Pages">${navigation(page, pages, to)}</nav>
<main id="content">
<article>${content.html}</article>
<footer>${previous ? `<a rel="prev" href="${to(previous.target)}">← ${escaped(previous.title)}</a>` : '<span></span>'}${next ? `<a rel="next" href="${to(next.target)}">${escaped(next.title)} →</a>` : ''}</footer>
</main>
${parts.length < 2 ? '' : `<aside aria-label="On this page"><p>On this page</p><ul>${parts.map(({ id, depth, text }) => `<li class="depth${depth}"><a href="#${id}">${escaped(text)}</a></li>`).join('')}</ul></aside>`}
</div>
</body>
</html>
`
}

function navigation(page, pages, to) {
  const sections = grouped(pages)
  return [...sections]
    .map(([section, inside]) => {
      const open = inside.includes(page) || section === 'Start' ? ' open' : ''
      const links = inside.map((each) => {
        const current = each === page ? ' aria-current="page"' : ''
        return `<li><a href="${to(each.target)}"${current}>${escaped(each.target === 'index.html' ? 'Overview' : each.title)}</a></li>`
      })
      return `<details${open}><summary>${section}</summary><ul>${links.join('')}</ul></details>`
    })
    .join('\n')
}

function grouped(pages) {
  const sections = new Map()
  for (const page of pages) sections.set(page.section, [...(sections.get(page.section) ?? []), page])
  return sections
}
