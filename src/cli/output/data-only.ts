import type { Stream } from './output.ts'

/** Standard output for data alone: whatever else writes to it, such as a job file or a handler, writes to standard error instead. */
export function dataOnly(): Stream {
  const { stdout, stderr } = process
  const write = stdout.write.bind(stdout)
  stdout.write = stderr.write.bind(stderr)
  return { write: (text) => write(text), isTTY: stdout.isTTY, columns: stdout.columns }
}
