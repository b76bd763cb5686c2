export { backendConformance, type ConformanceOptions, conformanceTitles, type TestRunner } from './conformance/index.ts'
export {
  type ComparedEngine,
  type Difference,
  difference,
  differenceText,
  type FoundDifference,
  findDifference,
  type OpenedEngine,
  type Program,
  type RandomDifferencesOptions,
} from './differential/index.ts'
export {
  assertDispatched,
  assertNotDispatched,
  type DispatchableJob,
  type DispatchedJob,
  type DispatchPredicate,
  dispatched,
} from './dispatched.ts'
export { type DrainOptions, drain } from './drain.ts'
export { ManualClock, seededRandom } from './manual-clock.ts'
export { type InlineOptions, runInline } from './run-inline.ts'
