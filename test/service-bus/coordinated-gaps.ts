import { coordinatedGaps as ofBeanstalkd } from '../backends/coordinated-gaps.ts'

const noPriority =
  'Service Bus has no priorities: it hands over as many jobs as are asked for, in the order in which they were sent'
const tooSlow = 'it counts after every step, and each count peeks at every message'

const { 'a payload of a megabyte is returned whole': _size, ...shared } = ofBeanstalkd

/** What the conformance suite does not ask of Service Bus with a coordination store beside it, and why not. */
export const coordinatedGaps: Readonly<Record<string, string>> = {
  ...shared,
  'a higher priority is claimed sooner, whatever was sent first (X1)': noPriority,
  'lanes of different queues, keys and priorities are merged in the right order': noPriority,
  'with very many lanes, deep and shallow, the best jobs are claimed in order': noPriority,
  'the best jobs are claimed in order, and no more than requested': noPriority,
  'with very many limited lanes, the best jobs that may start are claimed': noPriority,
  'without it priority is strict': noPriority,
  'workers with and without it can take turns': noPriority,
  'across very many lanes the order combines due time and priority': noPriority,
  'random programs': tooSlow,
}
