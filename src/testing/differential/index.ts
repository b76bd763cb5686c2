export type { Program } from '../programs/program.ts'
export { type ComparedEngine, type Difference, difference, type OpenedEngine } from './differential.ts'
export {
  differenceText,
  type FoundDifference,
  findDifference,
  type RandomDifferencesOptions,
} from './random-differences.ts'
