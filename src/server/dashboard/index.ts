export { type Dashboard, type DashboardOptions, type DashboardViewer, dashboard } from './dashboard.ts'
export type { AppearanceOptions } from './options.ts'
export type { ActivityEntry, Colour } from './shared/view.ts'
