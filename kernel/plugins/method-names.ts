import type { CurrencyEngine, CurrencyTools, KeylessEngine } from '../types/engine.ts'

/** The methods of an object that a plugin makes; one that is not here does not reach the kernel. */
export type MethodNames<T> = Readonly<Record<keyof T, true>>

/** The methods of a currency's tools. */
export const toolMethods: MethodNames<CurrencyTools> = {
  ...{ createPrivateKey: true, derivePublicKey: true, parseUri: true, encodeUri: true },
  ...{ sampleAddress: true, checkPublicKey: true, importPrivateKey: true, getTokenId: true },
  ...{ findOwnAddresses: true, getKeyPaths: true, verifyMessage: true },
  ...{ getDisplayPrivateKey: true, getDisplayPublicKey: true, getSplittableTypes: true }
}

/** The methods of both kinds of engines: those that get keys, and those for which the kernel signs. */
export type EngineMethods = Omit<CurrencyEngine & KeylessEngine, 'otherMethods'>

/** The methods of an engine, besides those that its currency declares. */
export const engineMethods: MethodNames<EngineMethods> = {
  ...{ getBytesToSign: true, addSignatures: true },
  ...{ startEngine: true, killEngine: true, changePaused: true, syncedFilesChanged: true },
  ...{ syncNetwork: true, resyncBlockchain: true },
  ...{ getFreshAddress: true, addGapLimitAddresses: true, isAddressUsed: true },
  ...{ makeSpend: true, signTx: true, checkSignedTx: true, broadcastTx: true, saveTx: true },
  ...{
    reservePayments: true,
    listCoins: true,
    freezeCoins: true,
    findPayment: true,
    getMaxSpendable: true,
    signMessage: true
  },
  ...{ sweepPrivateKeys: true, signSweep: true, changeUserSettings: true, changeCustomTokens: true },
  ...{ changeEnabledTokenIds: true, getStakingStatus: true, getActivationAssets: true },
  ...{ activateWallet: true, dumpData: true }
}
