import { execFileSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { Project } from './project.ts'

describe('treadle completion', () => {
  it('completes commands, subcommands, options and their values in bash', async () => {
    const { out } = await new Project().call(['completion', 'bash'])
    const completed = (...words: readonly string[]) => {
      const list = words.map((word) => `'${word}'`).join(' ')
      const script = `${out}\nCOMP_WORDS=(treadle ${list}); COMP_CWORD=${words.length}; _treadle; echo "\${COMPREPLY[@]}"`
      return execFileSync('bash', ['-c', script], { encoding: 'utf8' }).trim()
    }
    expect(completed('comp')).toBe('completion')
    expect(completed('dead', 'pur')).toBe('purge')
    expect(completed('work', '--onc')).toBe('--once')
    expect(completed('--json', 'work', '--wat')).toBe('--watch')
    expect(completed('send', '--on-conflict', 'ign')).toBe('ignore')
  })

  it('has every command and option for zsh and fish, each with what it means', async () => {
    const project = new Project()
    const [zsh, fish] = [await project.call(['completion', 'zsh']), await project.call(['completion', 'fish'])]
    expect(zsh.out).toMatch(/^#compdef treadle\n/)
    expect(zsh.out).toContain("'logs:print what a job has logged'")
    expect(fish.out).toContain("complete -c treadle -f -n '__fish_use_subcommand' -a logs -d 'print what a job has logged'")
    expect(fish.out).toMatch(/-n '__fish_seen_subcommand_from work' -l once /)
    expect((await project.call(['completion', 'tcsh'])).code).toBe(2)
  })
})

describe('treadle work --watch', () => {
  it('starts the worker again when a job file changes, also after one that is broken, and ends with Ctrl-C', async () => {
    const job = (answer: string) => `import { jobs } from 'treadle'\njobs.define('says', () => '${answer}')`
    const project = new Project({
      'treadle.config.ts': `export default { url: 'sqlite:jobs.db', unsigned: true }`,
      'jobs/says.ts': job('first'),
    })
    const worker = project.start(['work', '--watch'])
    await worker.says('sqlite:jobs.db')
    project.write('jobs/says.ts', 'const broken = {')
    await worker.says('waiting for a change')
    project.write('jobs/says.ts', job('second'))
    const { out } = await project.call(['send', 'says', '--wait', '60s'])
    expect(out).toContain('"second"')
    worker.child.kill('SIGINT')
    expect((await worker.ended).code).toBe(0)
  })
})
