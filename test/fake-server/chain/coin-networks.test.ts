import { hex } from '@scure/base'
import test, { type ExecutionContext } from 'ava'
import { COIN_NETWORKS, type FakeCoinId, readCashaddr } from '../../../fake-server/chain/coin-networks.ts'
import type { FakeChain } from '../../../fake-server/chain/fake-chain.ts'
import { Faucet } from '../../../fake-server/chain/faucet.ts'
import { openFakeChain } from '../../../fake-server/chain/open-chain.ts'
import { scriptOf } from '../../../fake-server/chain/script.ts'
import type { ChainCoin } from '../../../fake-server/chain/transaction.ts'
import { isWalletError } from '../../../kernel/base/errors.ts'
import { parseHeader } from '../../../plugins/currency/utxo/chain/header.ts'
import { bitcoinRow } from '../../../plugins/currency/utxo/params/bitcoin.ts'
import { bitcoinCashRow } from '../../../plugins/currency/utxo/params/bitcoin-cash.ts'
import type { CoinRow } from '../../../plugins/currency/utxo/params/coin.ts'
import { dashRow } from '../../../plugins/currency/utxo/params/dash.ts'
import { dogecoinRow } from '../../../plugins/currency/utxo/params/dogecoin.ts'
import { feathercoinRow } from '../../../plugins/currency/utxo/params/feathercoin.ts'
import { litecoinRow } from '../../../plugins/currency/utxo/params/litecoin.ts'
import { qtumRow } from '../../../plugins/currency/utxo/params/qtum.ts'
import { ufoRow } from '../../../plugins/currency/utxo/params/ufo.ts'
import { zcoinRow } from '../../../plugins/currency/utxo/params/zcoin.ts'
import { makeFakeClock } from '../../../testing/fake-clock.ts'
import { makeSeededRandom } from '../../helpers/seeded-random.ts'
import { makeTestWallet } from './chain-kit.ts'

const ROWS: Readonly<Record<FakeCoinId, CoinRow>> = {
  bitcoin: bitcoinRow,
  bitcoincash: bitcoinCashRow,
  dash: dashRow,
  dogecoin: dogecoinRow,
  feathercoin: feathercoinRow,
  litecoin: litecoinRow,
  qtum: qtumRow,
  ufo: ufoRow,
  zcoin: zcoinRow
}
const IDS = Object.keys(ROWS) as FakeCoinId[]

const { script } = makeTestWallet('p2pkh', 3)

const openChain = (id: FakeCoinId): FakeChain =>
  openFakeChain({ clock: makeFakeClock(), random: makeSeededRandom(1), network: COIN_NETWORKS[id] })

/** The reason for which a chain does not take a transaction; none if it does. */
const refusalOf = (chain: FakeChain, signed: string): string | undefined => {
  try {
    chain.broadcast(signed)
    return undefined
  } catch (error) {
    return isWalletError(error, 'BROADCAST_REFUSED') ? error.details.reason : String(error)
  }
}

test('every network of a fake chain has the addresses, the figures and the first block of its coin', t => {
  for (const id of IDS) {
    const [network, row] = [COIN_NETWORKS[id], ROWS[id]]
    const found = row.networks.find(({ name }) => name === network.name)
    const { pubKeyHash, scriptHash, wif } = network.prefixes
    t.like(found, { p2pkh: pubKeyHash, p2sh: [scriptHash, ...network.oldScriptHashes], wif }, id)
    t.is(found?.bech32, network.hasSegwit ? network.prefixes.bech32 : undefined, id)
    t.is(found?.cashaddr !== undefined, network.readAddress !== undefined, id)
    t.is(row.coinbaseMaturity, network.coinbaseMaturity, id)
    t.is(row.usesForkId ?? false, network.usesForkId ?? false, id)
    t.is(row.isReplaceable, network.isReplaceable, id)
    t.is(found?.defaultFees.minRelay, network.relayPerKvB, id)
    if (id !== 'ufo') t.is(found?.genesis, network.genesis.hash, id)
  }
})

test('the headers of every fake chain are those that a wallet of its coin reads, and name their blocks but on Dash', t => {
  for (const id of IDS) {
    const chain = openChain(id)
    chain.mine(3)
    const { headerForm } = ROWS[id].networks[0]
    const form = headerForm === undefined ? {} : { headerForm }
    for (let height = 0; height <= 3; height++) {
      const block = chain.view.blockAt(height)
      if (block === undefined) return t.fail()
      const header = parseHeader(hex.decode(block.headerHex), form)
      t.is(header.hash === block.hash, id !== 'dash', `${id} ${height}`)
      t.is(header.merkleRoot, block.header.merkleRoot, id)
      t.is(header.previous, block.header.previous, id)
      if (height > 0) t.is(chain.view.blockAt(height - 1)?.hash, block.header.previous, id)
    }
  }
})

test('a chain of every coin is saved and opened again, with what waits, and no byte of a header may differ', t => {
  for (const id of IDS) {
    const chain = openChain(id)
    chain.fund(script, '5000000')
    chain.mine()
    chain.fund(script, '6000000')
    const saved = chain.toJson() as { blocks: string[][] }
    const network = COIN_NETWORKS[id]
    const again = openFakeChain({ clock: makeFakeClock(), random: makeSeededRandom(2), network, saved })
    t.deepEqual(again.toJson(), saved, id)
    t.like(again.balance(script), { confirmed: '5000000', unconfirmed: '6000000' }, id)
    const [header = '', ...rest] = saved.blocks[0] ?? []
    const changed = { ...saved, blocks: [[`${header.slice(0, -2)}77`, ...rest], ...saved.blocks.slice(1)] }
    t.throws(
      () => openFakeChain({ clock: makeFakeClock(), random: makeSeededRandom(2), network, saved: changed }),
      { code: 'CORRUPT_FILE' },
      id
    )
  }
})

/** A payment of the newest coin of a key, by a faucet of a network that may be another one. */
const payWith = (chain: FakeChain, id: FakeCoinId, change: (coin: ChainCoin) => ChainCoin = coin => coin) => {
  const key = new Uint8Array(32).fill(9)
  const faucet = new Faucet({ ...COIN_NETWORKS[id], relayPerKvB: chain.network.relayPerKvB }, key)
  chain.fund(faucet.script, '9000000000')
  const [coin] = chain.view.scripts.utxosOf(faucet.scriptHash).toReversed()
  const payments = [{ script, amount: 7_000_000_000n }]
  return (coin && faucet.pay([change(coin)], payments)) ?? ''
}

test('Bitcoin Cash takes signatures of its own digest alone, over the amount that is spent, and no other chain takes them', t => {
  const chain = openChain('bitcoincash')
  t.is(
    refusalOf(chain, payWith(chain, 'dash')),
    'mandatory-script-verify-flag-failed (Signature must use SIGHASH_FORKID)'
  )
  t.is(
    refusalOf(
      chain,
      payWith(chain, 'bitcoincash', coin => ({ ...coin, amount: coin.amount + 1n }))
    ),
    'mandatory-script-verify-flag-failed (Signature must be zero for failed CHECK(MULTI)SIG operation)'
  )
  t.is(refusalOf(chain, payWith(chain, 'bitcoincash')), undefined)
  const dash = openChain('dash')
  t.is(
    refusalOf(dash, payWith(dash, 'bitcoincash')),
    'non-mandatory-script-verify-flag (Signature hash type missing or not understood)'
  )
  t.is(refusalOf(dash, payWith(dash, 'dash')), undefined)
})

test('a block of Bitcoin Cash has its transactions in the order of their txids, and a reorganisation loses none', t => {
  const chain = openChain('bitcoincash')
  // Each payment spends the change of the one before.
  chain.mine(101)
  const txids = Array.from({ length: 6 }, () => chain.fund(script, '1000000'))
  chain.mine()
  const mined = chain.view.tip.transactions.slice(1).map(({ txid }) => txid)
  t.deepEqual(mined, txids.toSorted())
  t.notDeepEqual(mined, txids)
  chain.reorg(1)
  t.like(chain.balance(script), { confirmed: '0', unconfirmed: '6000000' })
  chain.mine()
  t.like(chain.balance(script), { confirmed: '6000000', unconfirmed: '0' })
})

test('an address of Bitcoin Cash is read in its own form and in the old one, and no damaged or foreign one', t => {
  const network = COIN_NETWORKS.bitcoincash
  // The vectors of spec/cashaddr.md, for its main network.
  const vectors = [
    ['1BpEi6DfDAUFd7GtittLSdBeYJvcoaVggu', 'bitcoincash:qpm2qsznhks23z7629mms6s4cwef74vcwvy22gdx6a'],
    ['1KXrWXciRDZUpQwQmuM1DbwsKDLYAYsVLR', 'bitcoincash:qr95sy3j9xwd2ap32xkykttr4cvcu7as4y0qverfuy'],
    ['3CWFddi6m4ndiGyKqzYvsFYagqDLPVMTzC', 'bitcoincash:ppm2qsznhks23z7629mms6s4cwef74vcwvn0h829pq']
  ] as const
  const prefixes = { bech32: 'none', pubKeyHash: 0, scriptHash: 5, wif: 128 }
  const readAddress = (address: string): Uint8Array => readCashaddr(address, 'bitcoincash')
  const main = { ...network, readAddress, prefixes }
  for (const [old, address] of vectors) {
    t.deepEqual(scriptOf(main, address), scriptOf(main, old))
    t.deepEqual(scriptOf(main, address.slice('bitcoincash:'.length)), scriptOf(main, old))
    t.deepEqual(scriptOf(main, address.toUpperCase()), scriptOf(main, old))
    t.throws(() => scriptOf(main, `${address.slice(0, -1)}${address.endsWith('q') ? 'p' : 'q'}`), {
      code: 'ADDRESS_INVALID'
    })
    t.throws(() => scriptOf(network, address), { code: 'ADDRESS_INVALID' })
  }
})

const pays = (t: ExecutionContext, id: FakeCoinId, amount: string, reason: RegExp | undefined): void => {
  const chain = openChain(id)
  const pay = (): unknown => chain.fund(script, amount)
  if (reason === undefined) return void t.notThrows(pay, id)
  const error = t.throws(pay, { code: 'BROADCAST_REFUSED' }, id)
  t.regex(isWalletError(error, 'BROADCAST_REFUSED') ? error.details.reason : '', reason, id)
}

test('each network has its own limit of dust, and Dogecoin wants more for each small output', t => {
  pays(t, 'dash', '545', /^dust$/)
  pays(t, 'dash', '546', undefined)
  pays(t, 'qtum', '72799', /^dust$/)
  pays(t, 'qtum', '72800', undefined)
  pays(t, 'zcoin', '1', undefined)
  pays(t, 'dogecoin', '99999', /^dust$/)
  pays(t, 'dogecoin', '999999', /^min relay fee not met, \d+ < 1\d{6}$/)
  pays(t, 'dogecoin', '1000000', undefined)
})

test('a network without segwit takes no witness, pays no address of segwit and spends none', t => {
  const chain = openChain('dash')
  const witnessed = makeTestWallet('p2wpkh')
  t.throws(() => chain.fund(witnessed.script, '5000000'), { code: 'BROADCAST_REFUSED' })
  const prefixes = { ...chain.network.prefixes, bech32: 'bcrt' }
  t.throws(() => scriptOf({ ...chain.network, prefixes }, witnessed.address), { code: 'ADDRESS_INVALID' })
  // Made for Feathercoin, whose faucet has a witness.
  const signed = payWith(openChain('feathercoin'), 'feathercoin')
  t.regex(refusalOf(chain, signed) ?? '', /^TX decode failed/)
})
