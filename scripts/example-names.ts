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
