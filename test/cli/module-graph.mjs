import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { SourceTextModule, SyntheticModule } from 'node:vm'

const texts = new Map()

/**
 * Modules below a folder, loaded anew: what they keep in variables is their own, as in a process of their own. All others (Node's
 * and the installed ones) are the same in every graph.
 */
export class ModuleGraph {
  #below
  #modules = new Map()

  constructor(below) {
    this.#below = below
  }

  /** Resolves when the module has ended, with what it awaits itself. */
  async import(url) {
    const module = await this.#load(url)
    if (module.status === 'unlinked') await module.link((name, { identifier }) => this.#load(resolved(name, identifier)))
    await module.evaluate()
    return module
  }

  #load(url) {
    const loaded = this.#modules.get(url) ?? (url.startsWith(this.#below) ? this.#own(url) : this.#shared(url))
    this.#modules.set(url, loaded)
    return loaded
  }

  #own(url) {
    const text = texts.get(url) ?? readFileSync(fileURLToPath(url), 'utf8')
    texts.set(url, text)
    return new SourceTextModule(text, {
      identifier: url,
      initializeImportMeta: (meta) => {
        meta.url = url
      },
      importModuleDynamically: (name) => this.import(resolved(name, url)),
    })
  }

  async #shared(name) {
    const found = await import(name)
    const names = Object.keys(found)
    return new SyntheticModule(names, function () {
      for (const each of names) this.setExport(each, found[each])
    })
  }
}

function resolved(name, from) {
  return /^(\.|file:)/.test(name) ? new URL(name, from).href : name
}
