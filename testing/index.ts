/** The conformance kit for authors of plugins: checks, reports, and builders of fakes. */
export {
  answerInstead,
  cutReplies,
  dripReplies,
  type FaultPort,
  type FaultTarget,
  htmlPage,
  loseReplies,
  loseRequests,
  makeRandom,
  refusalReply,
  repeatRequests,
  slowDown,
  spoilFigures,
  swellReplies
} from '../fake-server/base/faults.ts'
export type { FakeReply, FakeRequest, Middleware } from '../fake-server/base/replies.ts'
export { type CurrencyNetwork, fakeBlockchain, type TokenNetwork } from './currency-lab.ts'
export type { LiveCurrency } from './currency-live-checks.ts'
export { type CurrencySuiteOptions, currencySuite, testCurrencyPlugin } from './currency-suite.ts'
export { type FakeClock, makeFakeClock } from './fake-clock.ts'
export {
  type FakeNetwork,
  fakeProviders,
  makeFakeNetwork,
  type RandomFaultsOptions,
  type RecordedReply,
  type Replies,
  randomFaults,
  type SentRequest,
  type Serve,
  type ServedRequest
} from './fake-network.ts'
export {
  type ObserverCase,
  type ObserverEvent,
  type ObserverSuiteOptions,
  observerSuite,
  type TestedObserver,
  testObserverPlugin
} from './observer-suite.ts'
export type { AllowedSpend, RankCase, RefusedSpend, RuleCase } from './policy-lab.ts'
export { type PolicySuiteOptions, policySuite, testPolicyPlugin } from './policy-suite.ts'
export type { InvalidRateCase, ValidRateCase } from './rate-lab.ts'
export { type RateSuiteOptions, rateSuite, testRatePlugin } from './rate-suite.ts'
export { formatResults, type ReportFormat } from './report.ts'
export { type TestFunction, testSuite } from './run-with.ts'
export { type SampleEvents, sampleEvents, sampleSpend } from './sample-events.ts'
export {
  type MakeStorage,
  type StorageSuiteOptions,
  storageSuite,
  testStoragePlugin
} from './storage-suite.ts'
export {
  type CheckInfo,
  type CheckLevel,
  type CheckResult,
  type PlannedCheck,
  type RunOptions,
  runSuite,
  type Suite,
  type SuiteOptions
} from './suite.ts'
export {
  type InvalidSwapCase,
  swapAssets,
  type ValidSwapCase
} from './swap-lab.ts'
export { type SwapSuiteOptions, swapSuite, testSwapPlugin } from './swap-suite.ts'
