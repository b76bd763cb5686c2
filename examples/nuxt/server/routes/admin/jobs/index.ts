// The pattern of the other file does not match the path itself.
export { default } from './[...path]'
