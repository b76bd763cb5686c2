import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { TreadleError } from '../../core/errors.ts'
import { ownFile } from '../../core/files/own-file.ts'
import type { PageAnswer, PageRequest } from './exchange/exchange.ts'

/** Written by the build of the page: see scripts/build/page.mjs. */
interface Manifest {
  readonly script: string
  readonly style: string
  readonly theme: string
  readonly preload: readonly string[]
  readonly files: readonly string[]
}

interface Shell {
  readonly base: string
  readonly status: number
  /** Whether the dashboard signs in by itself, and not the host that it is mounted in. */
  readonly hasSignIn: boolean
}

const types: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
}

const encodings = ['', '.br', '.gz'] as const

/**
 * The files of the page, all read at once: an update of the package may replace them while the server runs. Their names change with
 * their contents, so browsers may cache them forever.
 */
export class Assets {
  readonly #manifest: Manifest
  readonly #files: ReadonlyMap<string, Buffer>

  constructor() {
    this.#manifest = readManifest()
    const names = this.#manifest.files.flatMap((name) => encodings.map((encoding) => name + encoding))
    this.#files = new Map(names.map((name) => [name, readFileSync(fileURLToPath(new URL(name, pageFolder())))]))
  }

  /** Null if there is no such file. */
  file(name: string, request: PageRequest): PageAnswer | null {
    if (!this.#manifest.files.includes(name)) return null
    const accepted = request.header('accept-encoding') ?? ''
    const encoding = /\bbr\b/.test(accepted) ? 'br' : /\bgzip\b/.test(accepted) ? 'gz' : null
    const type = types[name.split('.').at(-1) ?? ''] ?? 'application/octet-stream'
    return {
      status: 200,
      headers: {
        'content-type': type,
        'cache-control': 'public, max-age=31536000, immutable',
        vary: 'accept-encoding',
        ...(encoding !== null && { 'content-encoding': encoding === 'gz' ? 'gzip' : 'br' }),
      },
      body: this.#files.get(encoding === null ? name : `${name}.${encoding}`) ?? null,
    }
  }

  /** The page without any data, so anyone may see it. */
  shell({ base, status, hasSignIn }: Shell): PageAnswer {
    const { script, style, theme, preload } = this.#manifest
    const at = (name: string) => escaped(`${base}/-/${name}`)
    const html = `<!doctype html>
<html lang="en" data-base="${escaped(base)}"${hasSignIn ? ' data-sign-in' : ''}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>Treadle</title>
<link rel="icon" type="image/svg+xml" href="${at('icon.svg')}">
<link rel="stylesheet" href="${at(style)}">
<script src="${at(theme)}"></script>
<script type="module" src="${at(script)}"></script>
${preload.map((name) => `<link rel="modulepreload" href="${at(name)}">`).join('\n')}
</head>
<body>
<div id="app"></div>
<noscript>The dashboard needs JavaScript. Without it, <code>npx treadle status</code> shows the same numbers.</noscript>
</body>
</html>
`
    return { status, headers: { 'content-type': 'text/html; charset=utf-8' }, body: html }
  }
}

/** When run from source, this path holds the page's sources, which browsers cannot run: use the built files instead. */
function pageFolder(): URL {
  const folder = ownFile('server/dashboard/page/')
  return folder.pathname.endsWith('/src/server/dashboard/page/')
    ? new URL('../../../../dist/server/dashboard/page/', folder)
    : folder
}

function readManifest(): Manifest {
  const folder = pageFolder()
  try {
    return JSON.parse(readFileSync(fileURLToPath(new URL('manifest.json', folder)), 'utf8')) as Manifest
  } catch (cause) {
    throw new TreadleError('CONFIG_INVALID', 'The pages of the dashboard are not built. Run: npm run build', { cause })
  }
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
