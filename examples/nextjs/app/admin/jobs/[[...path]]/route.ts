import { jobs } from 'treadle'
import { dashboard } from 'treadle/dashboard'

const shown = dashboard(jobs, {
  basePath: '/admin/jobs',
  // Your own login decides here; null refuses access.
  authorize: () => (process.env.NODE_ENV === 'production' ? null : { role: 'operate', user: 'developer' }),
})

export const { fetch: GET, fetch: POST, fetch: PATCH, fetch: DELETE } = shown
