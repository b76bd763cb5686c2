/** The scope in which a rate counts claims. Names of jobs and queues contain no line feed. */
export const rateScope = {
  job: (job: string) => `job\n${job}`,
  queue: (queue: string) => `queue\n${queue}`,
  group: (job: string, group: string) => `group\n${job}\n${group}`,
}
