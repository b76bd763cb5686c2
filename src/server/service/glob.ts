export { type Glob, glob } from '../../core/glob.ts'
