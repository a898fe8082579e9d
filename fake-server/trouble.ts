/**
 * Faults for chosen requests of a fake server or provider: slow, lost, repeated, reordered or answered by another one.
 *
 * The names are those of the public entry `holdfast/fake-server/trouble`.
 */
export {
  answerInstead,
  type FaultDelay as TroubleDelay,
  type FaultPort as TroublePort,
  type FaultTarget as TroubleTarget,
  loseReplies,
  loseRequests,
  makeRandom as makeChance,
  repeatRequests,
  type ShuffleLimits,
  shuffleReplies,
  slowDown
} from './base/faults.ts'
