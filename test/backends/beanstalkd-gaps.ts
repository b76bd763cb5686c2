import { conformanceTitles } from '../../src/testing/conformance/index.ts'

const ownTime = 'the server counts time by itself; test/backends/beanstalkd/time.test.ts waits for it'
const noLimits = 'a broker keeps no counts of what runs; limits need a queue in a database'
const noKeys = 'a broker has no index of keys; unique keys need a queue in a database'
const noIndex = 'a broker has no index of ids: a job that is sent twice is there twice'
const byArrival = 'among equal priorities the server goes by arrival, not by due time'
const byConnection =
  'leases belong to connections: the server returns those of a dead program as soon as its connection closes; test/backends/beanstalkd/dead-letters.test.ts shows it'
const unannounced = 'nothing is announced: an idle worker is woken by the server'
const putBack = 'a job of another key or priority is put back with a delay of a second or more'

/** Reasons of gaps that are none of the engine: what these tests ask for is shown by its own tests, on the server's own time. */
export const shownElsewhere: ReadonlySet<string> = new Set([ownTime, byConnection])

/** Whole groups that need parts of the contract that a broker does not have. */
const parts = Object.fromEntries(
  conformanceTitles
    .filter(({ needs }) => needs.length > 0)
    .map(({ group, needs }) => [group, `Beanstalkd has no ${needs.join(', no ')}`]),
)

/** What the conformance suite does not ask of Beanstalkd, and why not. */
export const beanstalkdGaps: Readonly<Record<string, string>> = {
  ...parts,
  limits: noLimits,
  'limits of groups': noLimits,
  'fair shares of groups': noLimits,
  rates: noLimits,
  'limits of queues': noLimits,
  'unique keys': noKeys,
  'how long unique keys are held': noKeys,
  'priority that increases with waiting time': 'the server orders by priority alone',
  'a payload of a megabyte is returned whole': 'the server takes 65,535 bytes unless it is started with -z',
  'among equal priorities the job that was due first comes first': byArrival,
  'sending the same envelope again stores it once, so a send may be repeated after a lost answer': noIndex,
  'one id that exists already does not affect the rest of a large batch': noIndex,
  'a delayed job is claimed at its millisecond and not before': 'delays are whole seconds, rounded up',
  'a job that falls due takes its place by priority': ownTime,
  'jobs that fall due together are claimed in the order of their due times': byArrival,
  'thousands of jobs that fall due together are all claimed, each once': ownTime,
  'a claim reports when the next waiting job falls due':
    'the server hands out a job that falls due, and does not tell when the next one does',
  'a claim reports when the next lease expires': unannounced,
  'a worker that sleeps until the announced instant finds the job': unannounced,
  'a worker claims only job keys that it knows (J30)': putBack,
  'only the given priority is claimed, whatever else waits': putBack,
  'a lease ends exactly when it was asked to':
    'the time to run is set when a job is put, in whole seconds: a lease is that long, or longer where more is asked for',
  'lanes of different queues, keys and priorities are merged in the right order': byArrival,
  'with very many lanes, deep and shallow, the best jobs are claimed in order': byArrival,
  'the best jobs are claimed in order, and no more than requested': 'a connection that waits is handed the first job that comes',
  'only what was requested is claimed': putBack,
  'delayed jobs that are due and jobs of dead workers are claimed with those that are ready': ownTime,
  'jobs of dead workers are taken from them before others are claimed': ownTime,
  'limits hold': noLimits,
  'the next claim is due when the first lease ends': unannounced,
  'a retry is ready after its delay, to the millisecond, as the next attempt (X3)': 'delays are whole seconds, rounded up',
  'attempts are counted one by one': ownTime,
  'a snoozed job is ready after its delay, and its attempt does not count (X3)': 'delays are whole seconds, rounded up',
  'a lease is settled once; the second time it is lost': ownTime,
  'a repeated job is ready at its time, with all its attempts': 'delays are whole seconds, rounded up',
  'it has its new envelope, and keeps its creation time and its key': putBack,
  'it holds its unique key as before, even under another name': noKeys,
  'it makes room for others of its key, its queue and its group': noLimits,
  'leases that expire': ownTime,
  'a started job is never claimed again when its worker dies': ownTime,
  'nor when the next claim finds it': ownTime,
  'nor when its owner is known to be dead': byConnection,
  'a lost lease cannot start': ownTime,
  'a snooze takes the start back: the handler was not called': ownTime,
}
