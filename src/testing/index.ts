export { backendConformance, type ConformanceOptions, conformanceTitles, type TestRunner } from './conformance/index.ts'
export { ManualClock, seededRandom } from './manual-clock.ts'
