/** What `treadle init` writes. */
export const firstFiles: readonly { readonly path: string; readonly text: string }[] = [
  {
    path: 'treadle.config.ts',
    text: `import { defineConfig } from 'treadle'

export default defineConfig({
  // The database: a file beside this one.
  url: 'sqlite:treadle.db',
  // Where the jobs are.
  jobs: 'jobs',
})
`,
  },
  {
    path: 'jobs/hello.ts',
    text: `import { jobs } from 'treadle'

// Put into the queue by your program: await hello.dispatch({ name: 'Ada' })
export const hello = jobs
  .define('hello', async (person: { name: string }) => {
    console.log(\`Hello, \${person.name}!\`)
    return { greeted: person.name }
  })
  .retries(3)

// Put into the queue by the clock.
export const goodMorning = jobs
  .define('good-morning', async () => {
    console.log('Good morning!')
  })
  .dailyAt('08:00')
  .timezone('Europe/Paris')
`,
  },
]
