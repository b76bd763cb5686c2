import { TreadleError } from '../../core/errors.ts'
import { frozenCopy } from '../../core/frozen.ts'
import { unknownOptions } from '../../core/options.ts'
import { glob } from '../../core/text/glob.ts'
import { shown } from '../../core/text/shown.ts'
import type { DefinitionFields, ErrorHook, FailWhen, Hook, SuccessHook } from '../../definition/fields.ts'
import type { Middleware } from '../../definition/middleware.ts'
import { functionProblem, jobNameProblem } from '../../definition/names.ts'
import { noHooks, type ProgramHooks, type ProgramRules } from '../../definition/program-rules.ts'

interface Wrapping extends Pick<Middleware, 'run' | 'dispatch'> {
  readonly fits: (job: string) => boolean
}

/** The functions that a program can register for all of its jobs, by method name. */
export interface ProgramFunctions {
  readonly before: Hook
  readonly onSuccess: SuccessHook
  readonly onError: ErrorHook
  readonly finally: Hook
  readonly failWhen: FailWhen
}

/** What a program specifies for all of its jobs: defaults, hooks and middleware. */
export class Policies implements ProgramRules {
  /** Called whenever a policy changes. */
  onChange: () => void = () => {}
  readonly #wrappings: Wrapping[] = []
  #hooks = noHooks
  #defaults: Partial<DefinitionFields> = {}
  #timezone = 'UTC'

  get defaults(): Partial<DefinitionFields> {
    return this.#defaults
  }

  get timezone(): string {
    return this.#timezone
  }

  /** Applies the options of the program. */
  settle({ defaults, timezone }: { readonly defaults: Partial<DefinitionFields>; readonly timezone: string }): void {
    this.#defaults = frozenCopy(defaults)
    this.#timezone = timezone
    if (Object.keys(defaults).length > 0 || timezone !== 'UTC') this.onChange()
  }

  add<Word extends keyof ProgramFunctions>(word: Word, given: ProgramFunctions[Word]): void {
    refuse(`jobs.${word}`, [functionProblem(given, word)])
    this.#hooks = { ...this.#hooks, [word]: [...this.#hooks[word], given] }
    this.onChange()
  }

  /** Adds middleware for the jobs whose keys match the pattern, or for all jobs without one. */
  wrap(pattern: string | undefined, given: unknown): void {
    const { run, dispatch, ...others } = typeof given === 'function' ? { run: given } : (Object(given) as Record<string, unknown>)
    refuse('jobs.use', [
      pattern === undefined ? undefined : jobNameProblem(pattern, 'the pattern'),
      ...unknownOptions(others, ['run', 'dispatch']),
      run === undefined && dispatch === undefined ? `it takes a function, or { run, dispatch }, got ${shown(given)}` : undefined,
      run === undefined ? undefined : functionProblem(run, 'run'),
      dispatch === undefined ? undefined : functionProblem(dispatch, 'dispatch'),
    ])
    const wrapped = { ...(run !== undefined && { run }), ...(dispatch !== undefined && { dispatch }) } as Middleware
    this.#wrappings.push({ ...wrapped, fits: pattern === undefined ? () => true : glob(pattern) })
    this.onChange()
  }

  hooksOf(job: string): ProgramHooks {
    const fitting = this.#wrappings.filter(({ fits }) => fits(job))
    return {
      ...this.#hooks,
      around: fitting.flatMap(({ run }) => run ?? []),
      aroundDispatch: fitting.flatMap(({ dispatch }) => dispatch ?? []),
    }
  }
}

function refuse(subject: string, problems: readonly (string | undefined)[]): void {
  const found = problems.filter((problem) => problem !== undefined)
  if (found.length > 0) throw new TreadleError('CONFIG_INVALID', `${subject}: ${found.join('; ')}`)
}
