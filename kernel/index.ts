export type { Account, NewWallet, WalletListing } from './account/account.ts'
export type { Credentials, PinOptions, UsernameOptions } from './account/credentials.ts'
export type { TwoFactor, TwoFactorStatus } from './account/two-factor.ts'
export type { Context, LoginHelp, NewAccount, UserName } from './context.ts'
export { catalogue } from './errors/catalogue.ts'
export type { NextCommand } from './errors/entry.ts'
export type { TellingHooks } from './hooks/kernel-hooks.ts'
export { createKernel, type Kernel, type KernelOptions } from './kernel.ts'
export { type LogThreshold, scrub } from './log.ts'
export { normalizeUsername } from './login/derive.ts'
export type { Lobby, LobbyLoginRequest } from './login/lobby/approve-login.ts'
export type { EdgeLoginOptions, EdgeLoginRequest } from './login/lobby/edge-login-request.ts'
export type { PasswordRules } from './login/password-rules.ts'
export * from './plugin-api.ts'
export type { LabelDetails, LabelRow } from './schema/label-row.ts'
export { Observable, type Readable } from './state/observable.ts'
export { Secret } from './state/secret.ts'
export type { LocalUser, LoginMessage, PendingVoucher, RecoveryQuestionChoice } from './types/login.ts'
export type { AddressRecord } from './wallet/address-file.ts'
export type { CurrencyWallet } from './wallet/currency-wallet.ts'
export type { TransactionQuery } from './wallet/history/transaction-list.ts'
export {
  importLabels,
  type LabelImport,
  type LabelledWallet,
  type LabelResult
} from './wallet/labels/import-labels.ts'
export { addressLabel, type LabelTexts, labelLine, transactionLabel } from './wallet/labels/label-row.ts'
export type { SpendIntent, SpendStage } from './wallet/spend-journal.ts'
