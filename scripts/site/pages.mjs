// The pages of the site, in the order of its navigation. A page of docs/ that is in no section goes into the last one.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * @typedef {object} Page
 * @property {string} source its path in the repository
 * @property {string} target its path in the site
 * @property {string} title
 * @property {string} section
 * @property {string} markdown
 */

const sections = [
  [
    'Start',
    [
      'README.md',
      'docs/getting-started.md',
      'docs/glossary.md',
      'docs/troubleshooting.md',
      'docs/when-not-to-use.md',
      'docs/comparison.md',
    ],
  ],
  ['Frameworks', /^docs\/frameworks\//],
  ['Recipes', /^docs\/recipes\//],
  ['Coming from', /^docs\/coming-from\//],
  [
    'Guides',
    [
      ...['defining-work', 'schedules', 'uniqueness', 'limits', 'delivery', 'workflows', 'transactions', 'isolation'],
      ...['logs', 'events', 'testing'],
    ].map(inDocs),
  ],
  [
    'Running it',
    ['workers', 'deploying', 'performance', 'cli', 'dashboard', 'observability', 'job-server', 'http-api', 'worker-manager'].map(
      inDocs,
    ),
  ],
  ['Engines', ['engines', 'databases', 'redis', 'beanstalkd', 'service-bus', 'moving'].map(inDocs)],
  [
    'Reference',
    [
      ...['reference', 'errors', 'guarantees', 'architecture'].map(inDocs),
      'SECURITY.md',
      'CHANGELOG.md',
      'CONTRIBUTING.md',
      'bench/README.md',
    ],
  ],
  ['Decisions', /^docs\/decisions\//],
  ['More', /^docs\//],
]

/** @param {string} root @returns {readonly Page[]} */
export function readPages(root) {
  const left = new Set(['README.md', 'SECURITY.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'bench/README.md', ...docsOf(root)])
  return sections.flatMap(([section, wanted]) => {
    const sources = wanted instanceof RegExp ? [...left].filter((path) => wanted.test(path)).sort(readmeFirst) : wanted
    return sources.filter((source) => left.delete(source)).map((source) => pageOf(root, source, section))
  })
}

function inDocs(name) {
  return `docs/${name}.md`
}

function docsOf(root) {
  const entries = readdirSync(join(root, 'docs'), { withFileTypes: true, recursive: true })
  return entries
    .filter((entry) => entry.isFile() && entry.name.endsWith('.md'))
    .map((entry) => join(entry.parentPath, entry.name).slice(join(root, '/').length).replaceAll('\\', '/'))
}

function readmeFirst(a, b) {
  const rank = (path) => (path.endsWith('README.md') ? '' : path)
  return rank(a) < rank(b) ? -1 : 1
}

function pageOf(root, source, section) {
  const markdown = readFileSync(join(root, source), 'utf8')
  const heading = /^# (.+)$/m.exec(markdown)?.[1] ?? source
  const title = section === 'Coming from' ? heading.replace(/^Coming from /, '') : heading
  return { source, target: targetOf(source), title, section, markdown }
}

/** docs/recipes/README.md becomes recipes/index.html, docs/cli.md cli.html. */
export function targetOf(source) {
  const inSite = source
    .replace(/^docs\//, '')
    .replace(/README\.md$/, 'index.md')
    .replace(/\.md$/, '.html')
  return inSite.startsWith('bench/')
    ? 'benchmarks.html'
    : inSite.replace(/^(SECURITY|CHANGELOG|CONTRIBUTING)/, (name) => name.toLowerCase())
}
