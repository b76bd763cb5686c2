// What a run of vitest counted, from its JSON report, and what remains of its failures after the files that failed ran again alone.
import { readFileSync } from 'node:fs'

/** More failing files than this are no chance, and are not run again. */
const mostFilesAgain = 5

/** `ending` is vitest's exit code or signal. */
export function readReport(path, ending) {
  let run
  try {
    run = JSON.parse(readFileSync(path, 'utf8'))
  } catch {
    return { passed: 0, failures: [], skipped: 0, trouble: [`vitest ended with ${ending} and left no report`] }
  }
  const failures = run.testResults.flatMap(({ name: file, assertionResults }) =>
    assertionResults.filter(({ status }) => status === 'failed').map(({ fullName }) => ({ file, fullName })),
  )
  // A file that cannot be loaded fails without having a test in it.
  const trouble = run.testResults.filter(failedAsAWhole).map(({ name, message }) => `${name}: ${message.split('\n')[0]}`)
  if (ending !== 0 && failures.length + trouble.length === 0) trouble.push(`vitest ended with ${ending}: see its message above`)
  return { passed: run.numPassedTests, failures, skipped: run.numPendingTests + run.numTodoTests, trouble }
}

/** The files to run again alone: none when all passed, or when what failed is not a single test here and there. */
export function filesToRunAgain({ failures, trouble }) {
  const files = [...new Set(failures.map(({ file }) => file))]
  return trouble.length === 0 && files.length <= mostFilesAgain ? files : []
}

/** A test that failed only the first time has passed, and is named as unsteady. */
export function afterSecondRun(first, second) {
  const again = new Set(second.failures.map(nameOf))
  const firstNames = new Set(first.failures.map(nameOf))
  const unsteady = first.failures.filter((failure) => !again.has(nameOf(failure)))
  const failedOnlyNow = second.failures.filter((failure) => !firstNames.has(nameOf(failure)))
  return {
    passed: first.passed + unsteady.length - failedOnlyNow.length,
    failures: second.failures,
    skipped: first.skipped,
    trouble: second.trouble,
    unsteady: unsteady.map(nameOf),
  }
}

function nameOf({ file, fullName }) {
  return `${file}: ${fullName}`
}

function failedAsAWhole(file) {
  return file.status === 'failed' && !file.assertionResults.some((test) => test.status === 'failed')
}
