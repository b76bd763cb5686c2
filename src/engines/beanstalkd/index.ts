import { BeanstalkdBackend } from './backend.ts'
import { type BeanstalkdOptions, beanstalkdConfig } from './options.ts'

export type { BeanstalkdBackend } from './backend.ts'
export type { BeanstalkdOptions } from './options.ts'

/** Opens queues in the tubes of a Beanstalkd server. */
export function openBeanstalkd(options: BeanstalkdOptions): Promise<BeanstalkdBackend> {
  return new BeanstalkdBackend(beanstalkdConfig(options)).open()
}
