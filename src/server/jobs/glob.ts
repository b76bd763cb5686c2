export { type Glob, glob } from '../../core/text/glob.ts'
