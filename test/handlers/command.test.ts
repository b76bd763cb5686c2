import { chmodSync, mkdirSync, mkdtempSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { restricted } from '../../src/definition/handler.ts'
import { command, type ProgramHandler } from '../../src/handlers/index.ts'
import { contextFor, permanentCode, thrownBy } from './context.ts'

const report = 'console.log(JSON.stringify({ node: process.execPath, script: process.argv[1], args: process.argv.slice(2) }))\n'

describe('D2: a command job', () => {
  test('runs a script of the project with this very Node', async () => {
    const cwd = project({ 'scripts/report.mjs': report })
    const said = await saidBy(command(['scripts/report.mjs', '--daily', '$HOME'], { cwd }))
    expect(said).toEqual({ node: process.execPath, script: join(cwd, 'scripts/report.mjs'), args: ['--daily', '$HOME'] })
  })

  test('makes its arguments from the payload', async () => {
    const cwd = project({ 'report.cjs': report })
    const handler = command(({ day }: { day: string }) => ['report.cjs', day], { cwd })
    const { stdout } = await handler({ day: 'monday' }, contextFor({ day: 'monday' }))
    expect(JSON.parse(stdout).args).toEqual(['monday'])
  })

  test('runs the program of a package, found in the folders above', async () => {
    const root = project({ 'node_modules/reporter/bin.js': `#!/usr/bin/env node\n${report}`, 'packages/app/index.js': '' })
    link(root, 'reporter', '../reporter/bin.js')
    const said = await saidBy(command(['reporter', '-v'], { cwd: join(root, 'packages/app') }))
    expect(said).toEqual({ node: process.execPath, script: join(root, 'node_modules/reporter/bin.js'), args: ['-v'] })
  })

  test('runs the JavaScript behind the launcher script that some package managers write', async () => {
    const launcher = [
      '#!/bin/sh',
      'basedir=$(dirname "$0")',
      'if [ -x "$basedir/node" ]; then',
      '  exec "$basedir/node"  "$basedir/../reporter/bin.js" "$@"',
      'else',
      '  exec node  "$basedir/../reporter/bin.js" "$@"',
      'fi',
    ].join('\n')
    const root = project({ 'node_modules/reporter/bin.js': report, 'node_modules/.bin/reporter': launcher })
    expect((await saidBy(command(['reporter'], { cwd: root }))).script).toBe(join(root, 'node_modules/reporter/bin.js'))
  })

  test('takes a script without an extension when it is written as a path', async () => {
    const cwd = project({ report })
    expect((await saidBy(command(['./report'], { cwd }))).script).toBe(join(cwd, 'report'))
  })

  test('A24, X22: is marked as restricted', () => {
    expect(command(['x.js'])[restricted]).toBe(true)
  })

  test('fails with the exit code of the script, under the name of the script', async () => {
    const cwd = project({ 'broken.js': 'process.stderr.write("no luck"); process.exitCode = 4' })
    expect((await thrownBy(() => run(command(['broken.js'], { cwd })))).message).toBe('"broken.js" exited with code 4: no luck')
  })
})

describe('a command job is not tried again', () => {
  test.each(['missing.js', './missing', 'treadle-no-such-program', '--eval', '..', '.'])(
    'when "%s" is not there',
    async (program) => {
      const cwd = project({ 'node_modules/.bin/other': '' })
      const thrown = await thrownBy(() => run(command([program, 'process.exit(0)'], { cwd })))
      expect(permanentCode(thrown)).toBe('PROGRAM_FAILED')
      expect(thrown.message).toContain('was not found')
    },
  )

  test.each([
    ['a shell script', '#!/bin/sh\necho hello\n'],
    ['a binary', '\x7fELF\x02\x01'],
  ])('when the program of the package is %s', async (_case, text) => {
    const root = project({ 'node_modules/tool/tool': text })
    link(root, 'tool', '../tool/tool')
    const thrown = await thrownBy(() => run(command(['tool'], { cwd: root })))
    expect(permanentCode(thrown)).toBe('PROGRAM_FAILED')
    expect(thrown.message).toContain('shell()')
  })
})

test('making a command job refuses bad arguments and unknown options', () => {
  const separate = () => command('/bin/echo' as never, ['hi'] as never)
  expect(separate).toThrow(
    expect.objectContaining({ code: 'HANDLER_INVALID', message: expect.stringContaining('a list of texts') }),
  )
  expect(() => command([])).toThrow(expect.objectContaining({ code: 'HANDLER_INVALID' }))
  expect(() => command(['x.js'], { cmd: '/' } as never)).toThrow(expect.objectContaining({ code: 'CONFIG_INVALID' }))
})

function run(handler: ProgramHandler<unknown>) {
  return handler(null, contextFor<unknown>(null))
}

async function saidBy(handler: ProgramHandler<unknown>): Promise<{ node: string; script: string; args: string[] }> {
  return JSON.parse((await run(handler)).stdout)
}

function project(files: Readonly<Record<string, string>>): string {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'treadle-command-')))
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
    chmodSync(join(root, path), 0o755)
  }
  return root
}

function link(root: string, name: string, target: string): void {
  mkdirSync(join(root, 'node_modules/.bin'), { recursive: true })
  symlinkSync(target, join(root, 'node_modules/.bin', name))
}
