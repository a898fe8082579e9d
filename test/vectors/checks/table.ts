import { checkBox, checkBoxErrors, checkBoxRng, checkParentBox } from './boxes.ts'
import type { GroupCheck } from './check.ts'
import { checkBase58, checkFakeRng, checkOtpKeyParse } from './encodings.ts'
import { checkFixWalletType, checkSplit } from './keys.ts'
import { checkLobby } from './lobby.ts'
import {
  checkLegacyLoginKeys,
  checkOtp,
  checkPasswordAuth,
  checkPasswordKey,
  checkPin2,
  checkRecovery2,
  checkRules,
  checkSnrpCost,
  checkUserId,
  checkUsernameNormalize,
  checkValidateServer
} from './logins.ts'
import { checkFileHash, checkStashPath, checkWalletId } from './names.ts'
import { checkRateRoute } from './rates.ts'
import { checkRequestCodec } from './requests.ts'
import { checkSwapSort } from './swaps.ts'
import {
  checkConfirmations,
  checkMemoUpgrade,
  checkMetadataMerge,
  checkTxFile,
  checkTxFileName,
  checkTxSearch
} from './wallets.ts'
import { checkWorld } from './worlds.ts'

/** Which check proves which group. A new group needs its line here, and a check in a file of this folder. */
export const checks: ReadonlyMap<string, GroupCheck> = new Map([
  ['base58', checkBase58],
  ['username-normalize', checkUsernameNormalize],
  ['userId', checkUserId],
  ['passwordAuth', checkPasswordAuth],
  ['passwordKey', checkPasswordKey],
  ['pin2', checkPin2],
  ['recovery2', checkRecovery2],
  ['legacy-login-keys', checkLegacyLoginKeys],
  ['password-rules', checkRules],
  ['walletId', checkWalletId],
  ['fix-wallet-type', checkFixWalletType],
  ['split', checkSplit],
  ['file-hash', checkFileHash],
  ['stash-path', checkStashPath],
  ['box', checkBox],
  ['box-rng', checkBoxRng],
  ['fake-rng', checkFakeRng],
  ['box-errors', checkBoxErrors],
  ['otp', checkOtp],
  ['otp-key-parse', checkOtpKeyParse],
  ['parentBox', checkParentBox],
  ['lobby', checkLobby],
  ['snrp', checkSnrpCost],
  ['validate-server', checkValidateServer],
  ['request-codec', checkRequestCodec],
  ['confirmations', checkConfirmations],
  ['memo-upgrade', checkMemoUpgrade],
  ['metadata-merge', checkMetadataMerge],
  ['tx-file', checkTxFile],
  ['tx-file-name', checkTxFileName],
  ['tx-search', checkTxSearch],
  ['rate-route', checkRateRoute],
  ['world', checkWorld],
  ['swap-sort', checkSwapSort]
])

/** Groups whose features are not built yet. A group moves to {@link checks} with its feature. */
export const pendingGroups: readonly string[] = []
