import { index, type RouteConfig, route } from '@react-router/dev/routes'

export default [
  index('routes/home.tsx'),
  route('signup', 'routes/signup.ts'),
  route('admin/jobs/*', 'routes/dashboard.ts'),
] satisfies RouteConfig
