export { type Dashboard, type DashboardOptions, type DashboardViewer, dashboard } from './dashboard.ts'
export type { AppearanceOptions } from './options.ts'
export type { ActivityEntry } from './shared/views/bulk.ts'
export type { Colour } from './shared/views/viewer.ts'
