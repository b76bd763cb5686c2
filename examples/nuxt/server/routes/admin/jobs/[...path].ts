import { jobs } from 'treadle'
import { dashboard } from 'treadle/dashboard'

const shown = dashboard(jobs, {
  basePath: '/admin/jobs',
  // Your own login decides here; null refuses access.
  authorize: () => (import.meta.dev ? { role: 'operate', user: 'developer' } : null),
})

export default fromNodeMiddleware(shown.node)
