/** Faults for chosen requests of a fake server or provider: slow, lost, repeated, reordered or answered by another one. */
export {
  answerInstead,
  type FaultDelay,
  type FaultPort,
  type FaultTarget,
  loseReplies,
  loseRequests,
  makeRandom,
  repeatRequests,
  type ShuffleLimits,
  shuffleReplies,
  slowDown
} from './base/faults.ts'
