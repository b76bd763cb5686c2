/**
 * A handler whose runs are counted, for contestants that do not tell when a job has ended.
 *
 * @param {(payload: any) => Promise<void>} handler
 */
export function countedRuns(handler = async () => {}) {
  let left = 0
  let resolve = () => {}
  return {
    async run(payload) {
      await handler(payload)
      if (--left === 0) resolve()
    },
    /** Resolves after so many more runs. */
    after(count) {
      left = count
      return new Promise((done) => {
        resolve = () => done(undefined)
      })
    },
  }
}
