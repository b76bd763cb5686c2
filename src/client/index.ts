export {
  type BedrockCallOptions,
  BedrockClient,
  type BedrockClientOptions,
  type BedrockGetOptions,
  bedrockClient,
} from './bedrock/client.ts'
export type {
  BedrockChild,
  BedrockFinish,
  BedrockJob,
  BedrockJobChanges,
  BedrockJobState,
  BedrockPriority,
  BedrockRequeue,
  BedrockRetry,
  BedrockState,
  NewBedrockJob,
} from './bedrock/job.ts'
export { BedrockRefusal } from './bedrock/refusal.ts'
export * from './browser.ts'
