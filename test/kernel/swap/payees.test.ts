import { HDKey } from '@scure/bip32'
import { p2wpkh, TEST_NETWORK } from '@scure/btc-signer'
import test from 'ava'
import { type SpendInfo, WalletError } from '../../../kernel/index.ts'
import { checkPayees, type PayeeCheck } from '../../../kernel/swap/payees.ts'
import { makeShop, offerOf } from '../../helpers/swap-shop.ts'
import { openTrader, type Trader } from '../../helpers/swap-trader.ts'

/** The native segwit address at a place of a wallet of regtest, derived without the plugin. */
const addressAt = (xpub: string, change: number, index: number): string => {
  const account = HDKey.fromExtendedKey(xpub, { public: 0x045f1cf6, private: 0x045f18bc })
  const { publicKey } = account.deriveChild(change).deriveChild(index)
  const { address } = p2wpkh(publicKey ?? new Uint8Array(33), { ...TEST_NETWORK, bech32: 'bcrt' })
  return address ?? ''
}

/** A shop that is to be paid where a test says. */
const openShop = async (): Promise<Trader & { payTo: { address: string } }> => {
  const payTo = { address: '' }
  const shop = makeShop({
    answer: tapContext => {
      const spends: SpendInfo[] = [
        {
          tokenId: null,
          spendTargets: [{ publicAddress: payTo.address, nativeAmount: tapContext.request.nativeAmount }]
        }
      ]
      tapContext.offer({ ...offerOf(tapContext), payment: { spends } })
    }
  })
  return { ...(await openTrader([shop])), payTo }
}

test('a swap that pays an address of any wallet of the account is refused, though it was never shown, saved or paid', async t => {
  const trader = await openShop()
  t.teardown(() => trader.close())
  const { account, btc, payTo } = trader
  const [paused, archived] = await account.createCurrencyWallets(
    ['Paused', 'Archived'].map(name => ({ type: 'wallet:bitcoin', name }))
  )
  if (paused?.ok !== true || archived?.ok !== true) throw new Error('There are no wallets')
  await paused.wallet.changePaused(true)
  await account.changeWalletStates({ [archived.walletId]: { archived: true } })
  for (const wallet of [btc, paused.wallet, archived.wallet]) {
    const xpub = await account.walletKeys.getDisplayPublicKey(wallet.id)
    t.regex(xpub, /^vpub/)
    for (const [change, index] of [
      [0, 40],
      [1, 199]
    ] as const) {
      payTo.address = addressAt(xpub, change, index)
      const [quote] = await account.fetchSwapQuotes(trader.swapRequest())
      const code = { code: 'SWAP_CHANGED', message: /pays an address of your own/ }
      await t.throwsAsync(async () => quote?.approve(), code, `${wallet.name} ${change}/${index}`)
    }
  }
  t.deepEqual(
    (await btc.getTransactions()).filter(({ isSend }) => isSend),
    []
  )
})

test('a swap to an invalid payee is refused, and a wallet that cannot check addresses gives the reason', async t => {
  const check = (parseUri: () => Promise<object>) => {
    const fromWallet = { currencyInfo: { displayName: 'Toycoin' }, parseUri }
    const findOwn = async () => ({ own: new Set<string>(), isComplete: true })
    return checkPayees(
      { pluginId: 'shop', fromWallet, deposit: undefined, findOwn } as unknown as PayeeCheck,
      [{ tokenId: null, spendTargets: [{ publicAddress: 'there' }] }]
    )
  }
  const refused = { code: 'SWAP_CHANGED', message: /none of Toycoin/ }
  for (const publicAddress of [undefined, ''])
    await t.throwsAsync(
      check(async () => ({ publicAddress })),
      refused
    )
  await t.throwsAsync(
    check(async () => {
      throw new WalletError('ADDRESS_INVALID', { rule: 'of another network' } as never)
    }),
    refused
  )
  await t.throwsAsync(
    check(async () => {
      throw new Error('The plugin did not load')
    }),
    { message: 'The plugin did not load' }
  )
})
