/** Whose claims a rate counts together. Names of jobs and queues hold no line feed. */
export const rateScope = {
  job: (job: string) => `job\n${job}`,
  queue: (queue: string) => `queue\n${queue}`,
  group: (job: string, group: string) => `group\n${job}\n${group}`,
}
