import { isRole, roles } from '../../client/api/roles.ts'
import { TreadleError } from '../../core/errors.ts'
import { type ServerToken, tokenProblems } from './server-token.ts'

/**
 * Parses tokens, one per line: `role secret [queues=a,b] [jobs=pattern,pattern]`. Empty lines and lines that begin with # are
 * ignored. Errors name line numbers, never the contents.
 */
export function parseTokenFile(text: string, file: string): readonly ServerToken[] {
  const problems: string[] = []
  const tokens: ServerToken[] = []
  for (const [at, line] of text.split(/\r?\n/).entries()) {
    if (/^\s*(?:#|$)/.test(line)) continue
    const read = tokenOf(line.trim().split(/\s+/))
    const wrong = typeof read === 'string' ? [read] : tokenProblems([read]).map((each) => each.replace('tokens[0] ', ''))
    problems.push(...wrong.map((problem) => `line ${at + 1} ${problem}`))
    if (typeof read !== 'string') tokens.push(read)
  }
  if (problems.length === 0 && tokens.length === 0) problems.push('it has no tokens')
  if (problems.length > 0)
    throw new TreadleError('CONFIG_INVALID', `The tokens in ${file} cannot be used: ${problems.join('; ')}`)
  return tokens
}

function tokenOf([role, secret = '', ...limits]: readonly string[]): ServerToken | string {
  if (!isRole(role)) return `must begin with a role, one of ${roles.join(', ')}`
  const said: { queues?: readonly string[]; jobs?: readonly string[] } = {}
  for (const limit of limits) {
    const [, name, list] = /^(queues|jobs)=(.*)$/.exec(limit) ?? []
    if (name === undefined || list === undefined) return 'may only contain queues=… and jobs=… after its secret'
    if (Object.hasOwn(said, name)) return `says ${name}= twice`
    said[name as 'queues' | 'jobs'] = list.split(',')
  }
  return { role, secret, ...said }
}
