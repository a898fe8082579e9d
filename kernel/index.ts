export type { Account } from './account/account.ts'
export type { ActivationQuestion, ActivationQuote, ActivationRequest } from './account/activation.ts'
export type { AccountLocation } from './account/backup.ts'
export type { NewWallet, NewWalletOfType } from './account/create-wallets.ts'
export type { Credentials, OwnPassword, PinOptions, UsernameOptions } from './account/credentials.ts'
export type { CurrencyConfig } from './account/currency-config.ts'
export type { KeptFileListing, KeptFiles } from './account/kept-files.ts'
export type { WalletResult } from './account/open-wallets.ts'
export type {
  ApprovalRequestOptions,
  HypotheticalPayment,
  OwnerProof,
  PaymentQuestion,
  Policies,
  RuleChangeOptions
} from './account/policies.ts'
export type { RepoStatus } from './account/repos.ts'
export type { RestoreOptions } from './account/restore-backup.ts'
export type { ApprovalRequest } from './account/second-device.ts'
export type { SwapConfig, SwapConfigSnapshot } from './account/settings.ts'
export type { TwoFactor, TwoFactorStatus } from './account/two-factor.ts'
export type { WalletKeyViews } from './account/wallet-keys.ts'
export type { WalletListing } from './account/wallet-list.ts'
export { amountText, mainDenomination, parseAmount } from './base/amount.ts'
export type { NextCommand } from './base/errors/entry.ts'
export { catalogue, scrub } from './base/errors.ts'
export { Mutex } from './base/mutex.ts'
export { Observable, type Readable } from './base/observable.ts'
export type { PauseOptions } from './base/pause-switch.ts'
export { Secret } from './base/secret.ts'
export type { Context, LoginHelp, NewAccount, UserName } from './context.ts'
export { checkServerAddress, createKernel, type Kernel, type KernelOptions } from './kernel.ts'
export { normalizeUsername } from './login/derive.ts'
export type { Lobby, LobbyLoginRequest } from './login/lobby.ts'
export type { EdgeLoginOptions, EdgeLoginRequest } from './login/methods/edge.ts'
export type { PasswordRules } from './login/methods/password.ts'
export * from './plugin-api.ts'
export type { ObserverHooks } from './plugins/hook-types.ts'
export type { LogThreshold } from './plugins/services.ts'
export { HALF_AGE_SECONDS, HOP_COST, INVERTED_HOP_COST, isStale, rateAge, typedPair } from './rates/graph.ts'
export type {
  ConvertOptions,
  FoundRoutes,
  RateHintList,
  RateService,
  RateServiceSnapshot,
  RouteOptions
} from './rates/service.ts'
export {
  type ApproveOptions,
  minimumOf,
  type SwapConfirmation,
  type SwapInfo,
  type SwapResult,
  type SwapReview
} from './swap/approval.ts'
export { bestFailureOf } from './swap/errors.ts'
export type { SwapOrders, SwapPayment } from './swap/orders.ts'
export type { Allowance } from './swap/payees.ts'
export type { SwapQuote } from './swap/quote.ts'
export type { QuoteRoundSnapshot } from './swap/quote-list.ts'
export type { SwapOptions, SwapRequest, SwapWallet } from './swap/request.ts'
export type { QuoteRound } from './swap/round.ts'
export type { WalletStates, WalletStatesChange } from './types/keys.ts'
export type { LocalUser, LoginMessage, PendingVoucher, RecoveryQuestionChoice } from './types/login.ts'
export {
  checkNoTokenFee,
  coinFeeOf,
  networkFeesOf,
  type UnusualFee,
  unusualFeeOf
} from './types/network-fee.ts'
export type { AddressRecord } from './wallet/addresses.ts'
export type { CoinChange, CoinNote, WalletCoin } from './wallet/coins.ts'
export type { WalletDump } from './wallet/dump-wallet.ts'
export type { StreamQuery, TransactionQuery } from './wallet/history/list.ts'
export type { LabelDetails, LabelRow } from './wallet/labels.ts'
export {
  addressLabel,
  coinLabel,
  importLabels,
  type LabelImport,
  type LabelledWallet,
  type LabelResult,
  type LabelTexts,
  labelLine,
  transactionLabel
} from './wallet/labels.ts'
export type { SpendIntent, SpendStage } from './wallet/spend/journal.ts'
export type { SignOptions } from './wallet/spend/sign.ts'
export { type SyncStage, type SyncStatus, syncStageOf } from './wallet/sync-status.ts'
export type { CurrencyWallet } from './wallet/wallet.ts'
