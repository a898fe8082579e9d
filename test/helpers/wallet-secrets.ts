import { base58 } from '@scure/base'
import { HDKey } from '@scure/bip32'
import { mnemonicToEntropy, mnemonicToSeedSync } from '@scure/bip39'
import { wordlist } from '@scure/bip39/wordlists/english.js'
import type { Account } from '../../kernel/index.ts'
import { makeNodeIo } from '../../platform/node/index.ts'
import { formsOf } from './key-forms.ts'

const { crypto } = makeNodeIo()

/** Every form in which the keys of an account and of one of its Bitcoin wallets could leak, that of its first address included. */
export const secretsOf = async (account: Account, walletId: string): Promise<string[]> => {
  const keys = await account.walletKeys.getRawPrivateKey(walletId)
  const words = String(keys.bitcoinKey)
  const seed = mnemonicToSeedSync(words)
  const root = HDKey.fromMasterSeed(seed)
  const child = root.derive("m/84'/1'/0'/0/0")
  const bytes = [keys.dataKey, keys.syncKey].map(key => crypto.fromBase64(String(key)))
  bytes.push(mnemonicToEntropy(words, wordlist), seed, base58.decode(await account.getLoginKey()))
  if (child.privateKey !== null) bytes.push(child.privateKey)
  return [...bytes.flatMap(formsOf), words, root.privateExtendedKey, child.privateExtendedKey]
}
