import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, onTestFinished, test } from 'vitest'
import { parseAllDocuments } from 'yaml'

const root = fileURLToPath(new URL('../..', import.meta.url))
const file = (name: string) => readFileSync(join(root, 'examples/deploy', name), 'utf8')
const service = file('treadle-worker.service')

const shown = [
  ['treadle-worker.service', ['docs/recipes/systemd.md', 'docs/deploying.md']],
  ['Dockerfile', ['docs/recipes/docker.md', 'docs/deploying.md']],
  ['compose.yaml', ['docs/recipes/docker.md']],
  ['kubernetes.yaml', ['docs/recipes/kubernetes-keda.md']],
] as const

describe('the files for a deployment', () => {
  test.each(shown)('%s is what the pages show', (name, pages) => {
    for (const page of pages) expect(readFileSync(join(root, page), 'utf8'), page).toContain(`\n${file(name)}\`\`\``)
  })

  test('start Treadle only with commands and options that it has', () => {
    const commands = shown.flatMap(([name]) => commandsOf(file(name)))
    expect(commands.map(([command]) => command).sort()).toEqual(['serve', 'work', 'work', 'work'])
    for (const [command = '', ...options] of commands) {
      const help = execFileSync(process.execPath, [join(root, 'dist/cli/main.js'), 'help', command], { encoding: 'utf8' })
      for (const option of options) expect(help, `${command} ${option}`).toContain(option)
    }
  })

  test('let a worker end: the time before it is killed is its grace and 20 seconds', () => {
    expect(service).toMatch(/--grace 1m$/m)
    expect(service).toMatch(/^TimeoutStopSec=80$/m)
    const [worker] = documents('kubernetes.yaml')
    expect(worker).toMatchObject({ spec: { template: { spec: { terminationGracePeriodSeconds: 80 } } } })
    expect(file('kubernetes.yaml')).toContain('"--grace", "60s"')
    expect(documents('compose.yaml')[0]).toMatchObject({ services: { worker: { stop_grace_period: '50s' } } })
  })

  test('name in Kubernetes only what they define, and the server where KEDA asks it', () => {
    const objects = documents('kubernetes.yaml')
    expect(objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`)).toEqual([
      'Deployment worker',
      'Deployment jobs',
      'Service jobs',
      'TriggerAuthentication jobs',
      'ScaledObject worker',
    ])
    const scaled = objects[4]
    expect(scaled?.spec).toMatchObject({
      scaleTargetRef: { name: 'worker' },
      triggers: [{ metadata: { url: 'http://jobs.default.svc:8080/api/v1/queues' }, authenticationRef: { name: 'jobs' } }],
    })
  })

  test('are a unit that systemd accepts', ({ skip }) => {
    if (spawnSync('systemd-analyze', ['--version']).status !== 0) return skip('there is no systemd-analyze here')
    const folder = mkdtempSync(join(tmpdir(), 'treadle-unit-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const unit = join(folder, 'treadle-worker.service')
    // The program need not be on this machine; everything else is checked as it is.
    writeFileSync(unit, service.replace('/srv/app/node_modules/.bin/treadle', '/bin/true'))
    const { status, stderr } = spawnSync('systemd-analyze', ['verify', unit], { encoding: 'utf8' })
    expect([status, stderr]).toEqual([0, ''])
  })
})

interface KubernetesObject {
  readonly kind: string
  readonly metadata: { readonly name: string }
  readonly spec: unknown
}

function documents(name: string): readonly KubernetesObject[] {
  return parseAllDocuments(file(name), { merge: true }).map((document) => {
    expect(document.errors).toEqual([])
    return document.toJS()
  })
}

/** The command and the options of each call of Treadle, in the forms of systemd, Docker and Kubernetes. */
function commandsOf(text: string): readonly (readonly string[])[] {
  const lines = text.split('\n').filter((line) => line.includes('.bin/treadle'))
  return lines.map((line) => {
    const words = line.replaceAll(/[",\]]/g, ' ').split(/\s+/)
    const args = words.slice(words.findIndex((word) => word.endsWith('.bin/treadle')) + 1)
    return args.filter((word, index) => index === 0 || word.startsWith('--'))
  })
}
