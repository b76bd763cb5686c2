import { coordinatedGaps as ofBeanstalkd } from '../backends/coordinated-gaps.ts'

const noPriority =
  'Service Bus has no priorities: it hands over as many jobs as are asked for, in the order in which they were sent'
const byTakeover = 'the memory engine lists jobs in the order in which they were stored, which is that of their claims here'
const tooSlow = 'it counts after every step, and each count peeks at every message'

const { 'a payload of a megabyte comes back whole': _size, ...shared } = ofBeanstalkd

/** What the conformance suite does not ask of Service Bus with a coordination store beside it, and why not. */
export const coordinatedGaps: Readonly<Record<string, string>> = {
  ...shared,
  'a higher priority comes out sooner, whatever was sent first (X1)': noPriority,
  'many lanes of queue, key and priority are merged in the right order': noPriority,
  'of very many lanes, deep and shallow, the best jobs are claimed in their order': noPriority,
  'the best jobs are claimed first, in their order, and no more than were asked for': noPriority,
  'of very many lanes whose keys are limited, the best jobs that may start are claimed': noPriority,
  'without it priority is strict': noPriority,
  'workers with and without it can take turns': noPriority,
  'over very many lanes the order is by due time and priority together': noPriority,
  'jobs are listed newest first': byTakeover,
  'a list is narrowed by state, queue and job, and by all of them': byTakeover,
  'random programs': tooSlow,
}
