import { HDKey } from '@scure/bip32'
import { mnemonicToSeedSync } from '@scure/bip39'
import {
  BITCOIN_REGTEST,
  type ChainNetwork,
  LITECOIN_REGTEST
} from '../../../fake-server/chain/chain-params.ts'
import { COIN_NETWORKS } from '../../../fake-server/chain/coin-networks.ts'
import {
  hasLitecoinNode,
  type LitecoinNode,
  type LitecoinNodeOptions,
  startLitecoinNode
} from '../../../fake-server/node/litecoin-node.ts'
import type { CurrencyPlugin } from '../../../kernel/plugin-api.ts'
import { bitcoinCash } from '../../../plugins/currency/utxo/all-coins.ts'
import { bitcoinRow } from '../../../plugins/currency/utxo/params/bitcoin.ts'
import { bitcoinCashRow } from '../../../plugins/currency/utxo/params/bitcoin-cash.ts'
import type { NetworkRow } from '../../../plugins/currency/utxo/params/coin.ts'
import { litecoinRow } from '../../../plugins/currency/utxo/params/litecoin.ts'
import { bitcoin, litecoin, utxoPlugin } from '../../../plugins/currency/utxo/plugin.ts'
import { installNpmNodes, type NpmNodeName, startNpmNode } from './npm-node.ts'

/** A node with what the stories do with it, by the names of Litecoin Core's methods. */
export interface LabNode extends Omit<LitecoinNode, 'rpc'> {
  /** Of a node that a wallet can ask itself. */
  readonly rpc?: LitecoinNode['rpc']
  /** Gives it the keys of a wallet of ours, which it then counts by its own means. */
  copyKeys(name: string, words: string, format: KeyFormat): Promise<void>
  /** Signs a payment of one coin of such keys, for the amounts in the main unit. */
  signPayment(
    name: string,
    coin: { readonly txid: string; readonly vout: number },
    outputs: readonly Readonly<Record<string, number>>[]
  ): Promise<string>
  /** Takes the newest blocks off, where a node can do that without a longer branch. */
  dropBlocks?(depth: number): Promise<void>
  /** Has one empty block more than those that are gone, or that it takes off. */
  replaceBlocks(depth: number): Promise<void>
  /** Pays a script, in hex, that has no address. */
  payScript(script: string): Promise<void>
}

/** The formats of keys that nodes know. */
export type KeyFormat = 'bip44' | 'bip49' | 'bip84'

/** A currency that has a node. */
export interface LabCoin {
  readonly name: string
  readonly plugin: CurrencyPlugin
  readonly walletType: string
  readonly chain: ChainNetwork
  readonly regtest: NetworkRow
  /** The format of most wallets. */
  readonly format: KeyFormat
  /** All that its wallets have. */
  readonly formats: readonly KeyFormat[]
  /** Its node is one of npm's. */
  readonly isFromNpm: boolean
  /** The kinds of addresses that can be paid, as `getnewaddress` takes them. */
  readonly addressTypes: readonly string[]
  readonly hasTaproot: boolean
  /** False of a node that relays no signature of a key that is not compressed. */
  readonly takesLongKeys: boolean
  /** Blocks at the start: with coins that can be spent, and with the rules of today. */
  readonly blocks: number
  /** Says what is missing for its node. */
  findMissing(): Promise<string | undefined>
  start(options?: LitecoinNodeOptions): Promise<LabNode>
}

const regtestOf = ({ networks }: { readonly networks: readonly NetworkRow[] }): NetworkRow => {
  const found = networks.find(({ name }) => name === 'regtest')
  if (found === undefined) throw new Error('no regtest')
  return found
}

/** Litecoin Core, Debian's. */
export const litecoinLab: LabCoin = {
  name: 'Litecoin',
  plugin: litecoin,
  walletType: litecoinRow.walletType,
  chain: LITECOIN_REGTEST,
  regtest: regtestOf(litecoinRow),
  format: 'bip84',
  formats: ['bip44', 'bip49', 'bip84'],
  isFromNpm: false,
  addressTypes: ['legacy', 'p2sh-segwit', 'bech32'],
  hasTaproot: true,
  takesLongKeys: true,
  blocks: 110,
  findMissing: async () =>
    hasLitecoinNode() ? undefined : 'no node is installed; on Debian, apt-get install litecoind',
  async start(options) {
    const node = await startLitecoinNode(options)
    return {
      ...node,
      copyKeys: (name, words, format) => importKeys(node, { name, words, format }),
      async signPayment(name, { txid, vout }, outputs) {
        const raw = await node.call('createrawtransaction', [{ txid, vout }], outputs)
        return (await node.wallet(name)('signrawtransactionwithwallet', raw)).hex
      },
      async dropBlocks(depth) {
        const height: number = await node.call('getblockcount')
        await node.call('invalidateblock', await node.call('getblockhash', height - depth + 1))
      },
      async replaceBlocks(depth) {
        for (let i = 0; i <= depth; i += 1)
          await node.call('generateblock', await node.call('getnewaddress'), [])
      },
      async payScript(script) {
        const { descriptor } = await node.call('getdescriptorinfo', `raw(${script})`)
        await node.call('generatetodescriptor', 1, descriptor)
      }
    }
  }
}

/** Litecoin's node when it takes the dearer of two payments, with a wallet that knows it. */
export const replacingLab: LabCoin = {
  ...litecoinLab,
  name: 'Litecoin with replacement',
  plugin: utxoPlugin({ ...litecoinRow, isReplaceable: true }),
  start: () => litecoinLab.start({ takesReplacements: true })
}

const startFromNpm = async (name: NpmNodeName): Promise<LabNode> => {
  const node = await startNpmNode(name)
  return {
    ...node,
    pay: (address, amount) => node.call('sendtoaddress', address, amount),
    restart: () => node.call('forgetmempool'),
    copyKeys: (wallet, words, format) => node.call('copykeys', wallet, words, format),
    signPayment: (wallet, { txid, vout }, outputs) =>
      node.wallet(wallet)('signpayment', `${txid}:${vout}`, outputs),
    replaceBlocks: depth => node.call('replaceblocks', depth),
    async payScript(script) {
      await node.call('sendtoscript', script, 50)
    }
  }
}

/** `bcoin`, of 2018: it has segwit, no taproot, and keeps the first of two payments. */
export const bitcoinLab: LabCoin = {
  name: 'Bitcoin',
  plugin: bitcoin,
  walletType: bitcoinRow.walletType,
  chain: BITCOIN_REGTEST,
  regtest: regtestOf(bitcoinRow),
  format: 'bip84',
  formats: ['bip44', 'bip49', 'bip84'],
  isFromNpm: true,
  addressTypes: ['legacy', 'p2sh-segwit', 'bech32'],
  hasTaproot: false,
  takesLongKeys: true,
  // Segwit is a rule from the third period of 144 on.
  blocks: 440,
  findMissing: installNpmNodes,
  start: () => startFromNpm('bcoin')
}

/** `bcash`, of 2018: signatures with the fork's own digest; no Schnorr signatures, no tokens. */
export const bitcoinCashLab: LabCoin = {
  name: 'Bitcoin Cash',
  plugin: bitcoinCash,
  walletType: bitcoinCashRow.walletType,
  chain: COIN_NETWORKS.bitcoincash,
  regtest: regtestOf(bitcoinCashRow),
  format: 'bip44',
  formats: ['bip44'],
  isFromNpm: true,
  addressTypes: ['legacy', 'p2sh'],
  hasTaproot: false,
  takesLongKeys: false,
  // Version 2 of payments is standard from the third period of 144 on.
  blocks: 440,
  findMissing: installNpmNodes,
  start: () => startFromNpm('bcash')
}

interface KeysToImport {
  readonly name: string
  readonly words: string
  readonly format: KeyFormat
}

/** Gives Core the same keys, in a wallet of its own. */
const importKeys = async (node: LitecoinNode, { words, name, format }: KeysToImport): Promise<void> => {
  await node.call('createwallet', name, false, true)
  const requests: object[] = []
  for (const kind of KINDS[format]) {
    for (const branch of [0, 1]) {
      const text = descriptorOf(words, kind, branch)
      const { checksum } = await node.call('getdescriptorinfo', text)
      requests.push({ desc: `${text}#${checksum}`, range: [0, 1200], timestamp: 'now' })
    }
  }
  for (const { success, error } of await node.wallet(name)('importmulti', requests))
    if (success !== true) throw new Error(JSON.stringify(error))
}

/** A branch of an account's keys as a descriptor, private keys and all, without its checksum. */
const descriptorOf = (words: string, { purpose, form }: AddressKind, branch: number): string => {
  const root = HDKey.fromMasterSeed(mnemonicToSeedSync(words), TEST_KEYS)
  return form(`${root.derive(`m/${purpose}'/1'/0'`).privateExtendedKey}/${branch}/*`)
}

const TEST_KEYS = { public: 0x043587cf, private: 0x04358394 }

interface AddressKind {
  readonly purpose: number
  readonly form: (key: string) => string
}

const SEGWIT: AddressKind = { purpose: 84, form: key => `wpkh(${key})` }
const NESTED: AddressKind = { purpose: 49, form: key => `sh(wpkh(${key}))` }
const LEGACY: AddressKind = { purpose: 44, form: key => `pkh(${key})` }

/** The addresses of each format; a wallet of BIP-49 gives out those of BIP-84, too. */
const KINDS: Readonly<Record<KeyFormat, readonly AddressKind[]>> = {
  bip44: [LEGACY],
  bip49: [NESTED, SEGWIT],
  bip84: [SEGWIT]
}

/** The first receiving addresses of segwit, as Litecoin Core derives them. */
export const segwitAddressesOf = async (
  { call }: Pick<LabNode, 'call'>,
  words: string,
  count: number
): Promise<readonly string[]> => {
  const { descriptor } = await call('getdescriptorinfo', descriptorOf(words, SEGWIT, 0))
  return call('deriveaddresses', descriptor, [0, count - 1])
}
