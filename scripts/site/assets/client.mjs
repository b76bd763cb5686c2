import MiniSearch from 'minisearch'
import { searchOptions } from '../search-options.mjs'

const root = document.documentElement.dataset.root ?? ''
const input = document.getElementById('search')
const results = document.getElementById('results')
const menu = document.getElementById('menu')
const most = 12

let loading = null

function loadSearch() {
  loading ??= new Promise((resolve, reject) => {
    const script = document.createElement('script')
    script.src = `${root}assets/search-index.js`
    script.onload = () => resolve(MiniSearch.loadJSON(globalThis.treadleSearchIndex, searchOptions))
    script.onerror = reject
    document.head.append(script)
  })
  return loading
}

async function show() {
  const text = input.value.trim()
  if (text === '') return hide()
  const search = await loadSearch()
  const found = search.search(text).slice(0, most)
  results.replaceChildren(...(found.length === 0 ? [nothing()] : found.map(link)))
  results.hidden = false
}

function nothing() {
  const line = document.createElement('p')
  line.textContent = 'Nothing found'
  return line
}

function link({ url, heading, page }) {
  const anchor = document.createElement('a')
  anchor.href = root + url
  const where = document.createElement('small')
  where.textContent = heading === page ? '' : page
  anchor.append(heading, where)
  anchor.addEventListener('click', hide)
  return anchor
}

function hide() {
  results.hidden = true
}

function move(step) {
  const links = [...results.querySelectorAll('a')]
  const at = links.indexOf(document.activeElement) + step
  if (at < 0) input.focus()
  else links[Math.min(at, links.length - 1)]?.focus()
}

input.addEventListener('focus', () => void loadSearch())
input.addEventListener('input', () => void show())
document.addEventListener('keydown', (event) => {
  const inSearch = event.target === input || results.contains(event.target)
  if (event.key === '/' && !inSearch) {
    event.preventDefault()
    input.focus()
  } else if (event.key === 'Escape') hide()
  else if (inSearch && event.key === 'ArrowDown') {
    event.preventDefault()
    move(1)
  } else if (inSearch && event.key === 'ArrowUp') {
    event.preventDefault()
    move(-1)
  } else if (event.target === input && event.key === 'Enter') results.querySelector('a')?.click()
})
document.addEventListener('click', (event) => {
  if (!results.contains(event.target) && event.target !== input) hide()
})

document.getElementById('theme').addEventListener('click', () => {
  const { dataset } = document.documentElement
  const isDark = dataset.theme ? dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches
  dataset.theme = isDark ? 'light' : 'dark'
  try {
    localStorage.setItem('treadle-theme', dataset.theme)
  } catch {
    // Then it holds for this page.
  }
})

menu.addEventListener('click', () => {
  const open = document.body.classList.toggle('menu-open')
  menu.setAttribute('aria-expanded', String(open))
})
