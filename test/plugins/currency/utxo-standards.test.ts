import { readFileSync } from 'node:fs'
import { HDKey } from '@scure/bip32'
import { RawTx } from '@scure/btc-signer'
import test from 'ava'
import { isWalletError, type WalletKeys } from '../../../kernel/plugin-api.ts'
import { makeNodeIo } from '../../../platform/node/index.ts'
import { parseAddress } from '../../../plugins/currency/utxo/chain/address.ts'
import { importWalletKeys } from '../../../plugins/currency/utxo/keys/import-keys.ts'
import { bitcoinRow, bitcoinTestnetRow } from '../../../plugins/currency/utxo/params/bitcoin.ts'
import { bitcoinCashRow } from '../../../plugins/currency/utxo/params/bitcoin-cash.ts'
import { type HashedTransaction, SignatureHashes } from '../../../plugins/currency/utxo/spend/sign.ts'

/**
 * The vectors of standards, each with its source. Those of BIP-44, 49 and 84 stand with each coin (`test/fixtures/coins`), of BIP-86 in
 * `utxo-keys`, of BIP-321 in `utxo-links`, of BIP-322 in `utxo-messages`, and of Electrum's seeds in `utxo-import`.
 */
const standards = JSON.parse(readFileSync('test/fixtures/standards.json', 'utf8')) as Standards

interface Standards {
  readonly bip32: { readonly cases: readonly { readonly seed: string; readonly keys: readonly Derived[] }[] }
  readonly bip39: {
    readonly passphrase: string
    readonly cases: readonly { readonly words: string; readonly seed: string }[]
  }
  readonly bip143: {
    readonly cases: readonly (Hashed &
      Spent & { readonly transaction: string; readonly scriptCode: string })[]
  }
  readonly bip341: {
    readonly transaction: string
    readonly spent: readonly (Spent & { readonly script: string })[]
    readonly cases: readonly Hashed[]
    readonly script: string
    readonly address: string
  }
  readonly segwitAddresses: {
    readonly valid: readonly { readonly address: string; readonly script: string }[]
    /** What is wrong, by the address. */
    readonly invalid: Readonly<Record<string, string>>
  }
  readonly cashaddr: { readonly cases: readonly { readonly legacy: string; readonly address: string }[] }
}

interface Derived {
  readonly path: string
  readonly xpub: string
  readonly xprv: string
}

interface Hashed {
  readonly at: number
  readonly hash: string
}

interface Spent {
  readonly value: string
}

const io = makeNodeIo()
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')
const bytesOf = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text, 'hex'))

test('the library that derives keys gives those of BIP-32', t => {
  for (const { seed, keys } of standards.bip32.cases) {
    const master = HDKey.fromMasterSeed(bytesOf(seed))
    for (const { path, xpub, xprv } of keys) {
      const key = master.derive(path)
      t.is(key.publicExtendedKey, xpub, path)
      t.is(key.privateExtendedKey, xprv, path)
    }
  }
})

test('words with a passphrase become the keys of the seed that BIP-39 names', t => {
  const imported = (words: string): WalletKeys =>
    importWalletKeys(bitcoinRow, bitcoinRow.networks[0], words, {
      io,
      options: { format: 'bip44', passphrase: standards.bip39.passphrase }
    })
  for (const { words, seed } of standards.bip39.cases) {
    const account = HDKey.fromMasterSeed(bytesOf(seed)).derive("m/44'/0'/0'")
    t.is(JSON.stringify(imported(words)).includes(account.privateExtendedKey), true, words)
    t.throws(() => imported(`${words} abandon`), { message: /words|mistyped|checksum/i })
  }
})

test('the hashes that segwit inputs sign are those of BIP-143', t => {
  for (const { transaction, at, scriptCode, value, hash } of standards.bip143.cases) {
    const hashed = hashedOf(transaction, place =>
      place === at
        ? { kind: 'segwit', value: BigInt(value), scriptCode: bytesOf(scriptCode), script: new Uint8Array() }
        : { kind: 'legacy', value: 0n, scriptCode: new Uint8Array(), script: new Uint8Array() }
    )
    t.is(hex(new SignatureHashes(hashed).hashOf(at)), hash)
  }
})

test('the hashes that taproot inputs sign are those of BIP-341, and so is the key', t => {
  const { transaction, spent, cases, script, address } = standards.bip341
  const hashed = hashedOf(transaction, place => ({
    kind: 'taproot',
    value: BigInt(spent[place]?.value ?? ''),
    script: bytesOf(spent[place]?.script ?? ''),
    scriptCode: new Uint8Array()
  }))
  for (const { at, hash } of cases) t.is(hex(new SignatureHashes(hashed).hashOf(at)), hash)
  t.is(hex(parseAddress(bitcoinRow, bitcoinRow.networks[0], address).script), script)
})

type InputFacts = Pick<HashedTransaction['inputs'][number], 'kind' | 'script' | 'scriptCode' | 'value'>

const hashedOf = (transaction: string, factsOf: (place: number) => InputFacts): HashedTransaction => {
  const { inputs, outputs, lockTime } = RawTx.decode(bytesOf(transaction))
  return {
    lockTime,
    inputs: inputs.map(({ txid, index, sequence }, place) => ({
      ...{ txid: hex(txid), vout: index, sequence },
      ...factsOf(place)
    })),
    outputs: outputs.map(({ amount, script }) => ({ value: amount, script }))
  }
}

test('segwit addresses are those of BIP-173 and BIP-350: each valid one has its script, each other one is refused', t => {
  const { valid, invalid } = standards.segwitAddresses
  for (const { address, script } of valid) {
    const row = /^bc1/i.test(address) ? bitcoinRow : bitcoinTestnetRow
    const [network] = row.networks
    // Programs of other lengths and versions are no form that a wallet may pay today.
    if (/^(?:00(?:14|20)|5120)/.test(script)) {
      const parsed = parseAddress(row, network, address)
      t.is(hex(parsed.script), script)
      t.is(parsed.address, address.toLowerCase())
    } else
      t.is(
        faultOf(() => parseAddress(row, network, address)),
        'kind',
        address
      )
  }
  for (const address of Object.keys(invalid))
    for (const row of [bitcoinRow, bitcoinTestnetRow])
      t.regex(
        faultOf(() => parseAddress(row, row.networks[0], address)),
        /^[a-z]+$/,
        invalid[address]
      )
})

test('the addresses of Bitcoin Cash are those of its specification, in both forms', t => {
  const [network] = bitcoinCashRow.networks
  for (const { legacy, address } of standards.cashaddr.cases) {
    const parsed = parseAddress(bitcoinCashRow, network, address)
    t.is(parsed.address, address)
    t.is(hex(parseAddress(bitcoinCashRow, network, legacy).script), hex(parsed.script))
    t.is(parseAddress(bitcoinCashRow, network, address.toUpperCase()).address, address)
    t.is(parseAddress(bitcoinCashRow, network, address.replace('bitcoincash:', '')).address, address)
  }
})

const faultOf = (run: () => unknown): string => {
  try {
    run()
    return ''
  } catch (error) {
    return isWalletError(error, 'ADDRESS_INVALID')
      ? (error.details.fault ?? '')
      : `not ADDRESS_INVALID: ${error}`
  }
}
