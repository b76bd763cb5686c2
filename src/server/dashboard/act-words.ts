/** An action of the HTTP API as people say it, and the page of what it changed. */
export interface ActWords {
  readonly what: string
  readonly href: string | null
}

type Words = (name: string) => string

/** By the method, the kind of thing and what is done with it. */
const words: Readonly<Record<string, Words>> = {
  'POST jobs retry': (id) => `retry the job ${id}`,
  'POST jobs cancel': (id) => `cancel the job ${id}`,
  'PATCH jobs ': (id) => `reschedule the job ${id}`,
  'DELETE jobs ': (id) => `delete the job ${id}`,
  'POST queues pause': (name) => pauseWords(name),
  'POST queues resume': (name) => resumeWords(name),
  'POST job-names pause': (name) => `pause the jobs "${name}" in all queues`,
  'POST job-names resume': (name) => `resume the jobs "${name}" in all queues`,
  'POST schedules pause': (name) => `pause the schedule "${name}"`,
  'POST schedules resume': (name) => `resume the schedule "${name}"`,
  'POST schedules trigger': (name) => `run the schedule "${name}" now`,
  'DELETE schedules ': (name) => `delete the schedule "${name}"`,
}

const pages: readonly string[] = ['jobs', 'queues', 'schedules']

/** `path` is the path of the API below its prefix. */
export function actWords(method: string, path: string): ActWords {
  const [kind = '', encoded = '', verb = ''] = path.slice(1).split('/')
  const name = decodeURIComponent(encoded)
  const said = words[`${method} ${kind} ${verb}`]
  const isGone = method === 'DELETE'
  return {
    what: said === undefined ? `${method} ${decodeURIComponent(path)}` : said(name),
    href: said !== undefined && pages.includes(kind) && !isGone ? `/${kind}/${encoded}` : null,
  }
}

export function pauseWords(queue: string): string {
  return `pause the queue "${queue}"`
}

export function resumeWords(queue: string): string {
  return `resume the queue "${queue}"`
}
