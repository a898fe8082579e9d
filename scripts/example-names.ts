/** The names that an `@example` may use without declaring them, with their types. */
export const exampleNames: Readonly<Record<string, string>> = {
  account: "import('holdfast').Account",
  console: '{ log(...values: unknown[]): void }',
  context: "import('holdfast').Context",
  io: "import('holdfast').Io",
  kernel: "import('holdfast').Kernel",
  wallet: "import('holdfast').CurrencyWallet"
}

/** Exports that are called or implemented and have no `@example`, with the reason. */
export const withoutExample: Readonly<Record<string, string>> = {
  Abort: 'that of makeAbort shows it',
  ChannelHandlers: 'that of Channel shows them',
  KernelOptions: 'that of createKernel shows them',
  Yielder: 'that of makeYielder shows it'
}

/** Those of `holdfast/testing`. */
export const withoutTestingExample: Readonly<Record<string, string>> = {
  answerInstead: 'that of randomFaults shows how a fault is used',
  dripReplies: 'that of randomFaults shows how a fault is used',
  htmlPage: 'that of randomFaults shows how a fault is used',
  loseReplies: 'that of randomFaults shows how a fault is used',
  loseRequests: 'that of randomFaults shows how a fault is used',
  refusalReply: 'that of randomFaults shows how a fault is used',
  repeatRequests: 'that of randomFaults shows how a fault is used',
  slowDown: 'that of randomFaults shows how a fault is used',
  spoilFigures: 'that of randomFaults shows how a fault is used',
  swellReplies: 'that of randomFaults shows how a fault is used',
  FaultPort: 'that of randomFaults shows how a fault is used',
  Middleware: 'that of randomFaults shows how a fault is used',
  makeRandom: 'that of randomFaults shows how a fault is used',
  FakeClock: 'that of makeFakeClock shows it',
  FakeNetwork: 'that of makeFakeNetwork shows it',
  TestedObserver: 'that of observerSuite shows it',
  MakeStorage: 'that of storageSuite shows it',
  PlannedCheck: 'that of runSuite runs it',
  RunOptions: 'that of runSuite shows them',
  Serve: 'that of Replies shows one'
}
