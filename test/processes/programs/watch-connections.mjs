// Loaded before a program, in all its threads: puts watched-driver.mjs in the place of the SQLite driver.
import { register } from 'node:module'

const watched = new URL('./watched-driver.mjs', import.meta.url).href
const hooks = `export async function resolve(name, context, next) {
  const isDriver = name === 'node:sqlite' || name === '@photostructure/sqlite'
  return next(isDriver && context.parentURL !== '${watched}' ? '${watched}' : name, context)
}`
register(`data:text/javascript,${encodeURIComponent(hooks)}`)
