const tooLarge = 'the server takes 65,535 bytes unless it is started with -z'
const noIndex = 'a broker has no index of ids: what is sent twice is found out, and runs once, when it is claimed'
const byArrival = 'the broker hands over as many jobs as are asked for, among equal priorities by arrival and not by due time'
const byPriority = 'the broker hands over as many jobs as are asked for, by priority alone'
const handedFirst = 'a connection that waits is handed the first job that comes'
const ofAnyName = 'a claim takes over as many jobs as it asks for, of any name: one behind them comes with a later claim'
const countedByQueue = 'jobs in the broker are counted by queue, without their names and without the age of the oldest'
const noLines = 'a job in the broker has written no lines yet: lines are stored for jobs that are in the store'

/** What the conformance suite does not ask of Beanstalkd with a coordination store beside it, and why not. */
export const coordinatedGaps: Readonly<Record<string, string>> = {
  'a payload of a megabyte comes back whole': tooLarge,
  'sending the same envelope again stores it once, so a send may be repeated after a lost answer': noIndex,
  'one id that is there already does not disturb the rest of a large batch': noIndex,
  'many lanes of queue, key and priority are merged in the right order': byArrival,
  'of very many lanes, deep and shallow, the best jobs are claimed in their order': byArrival,
  'the best jobs are claimed first, in their order, and no more than were asked for': handedFirst,
  'of very many lanes whose keys are limited, the best jobs that may start are claimed': byArrival,
  'workers with and without it can take turns': byPriority,
  'over very many lanes the order is by due time and priority together': byPriority,
  'transactions among other work wait their turn': ofAnyName,
  'counts tell since when the oldest ready job waits, by queue and job': countedByQueue,
  'counts follow what leaves and arrives': countedByQueue,
  'lines are numbered over all attempts of a job, each job by itself': noLines,
  'what follows a line is read by its number': noLines,
  'lines that were dropped before they came leave a gap in the numbers': noLines,
  'the oldest lines are dropped where there are too many, or too many bytes': noLines,
  'any text comes back as it was': noLines,
}
