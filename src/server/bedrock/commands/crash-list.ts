import { requiredText } from '../wire/parameters.ts'
import { Refusal } from '../wire/refusal.ts'
import { type Command, type CommandContext, ok } from './command.ts'

const longestList = 64 * 1024

export const crashBedrockJob: Command = async (request, context) => {
  refuseStrangers(context)
  const patterns = requiredText(request, 'names', longestList)
    .split(',')
    .map((item) => item.trim())
  context.jobs.crashing.add(patterns.filter((pattern) => pattern !== ''))
  return ok
}

export const clearCrashedBedrockJobs: Command = async (_, context) => {
  refuseStrangers(context)
  context.jobs.crashing.clear()
  return ok
}

/** Only for clients on this machine. */
function refuseStrangers({ peer }: CommandContext): void {
  if (!peer.isLoopback) throw new Refusal(401, 'Unauthorized')
}
