/** The shortest job file: its default export is the handler, its file name the job's key. */
export default async function greet(person: { name: string }) {
  return `Hello, ${person.name}!`
}
