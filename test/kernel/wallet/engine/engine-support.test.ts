import type { ExecutionContext } from 'ava'
import test from 'ava'
import { type CurrencyWallet, nativeAmount, type SpendInfo } from '../../../../kernel/index.ts'
import { makeWalletInfo } from '../../../../kernel/keys/wallet-info.ts'
import type { CurrencyInfo } from '../../../../kernel/types/currency.ts'
import { makeNodeIo } from '../../../../platform/node/index.ts'
import { makeKnownUser } from '../../../helpers/known-user.ts'
import { makeToy, type ToyOptions, toyTransaction } from '../../../helpers/toy-currency.ts'

const io = makeNodeIo()

const openToy = async (t: ExecutionContext, options: ToyOptions = {}): Promise<CurrencyWallet> => {
  const info = makeWalletInfo(io, 'wallet:toycoin', { toyKey: 'aa'.repeat(32) })
  const { account } = await makeKnownUser(t, { infos: [info] }).logIn({ plugins: [makeToy(options).plugin] })
  return account.openWallet(info.id)
}

const pay = (more: Partial<SpendInfo> = {}): SpendInfo => ({
  tokenId: null,
  spendTargets: [{ publicAddress: 'shop', nativeAmount: nativeAmount('5') }],
  ...more
})

test('signing messages and sweeping keys need engine support; with it, what comes back is checked [5.24]', async t => {
  const plain = await openToy(t)
  await t.throwsAsync(plain.signMessage('hello'), {
    code: 'NOT_SUPPORTED',
    message: 'This wallet does not support signing messages'
  })
  await t.throwsAsync(plain.sweepPrivateKeys({ ...pay(), privateKeys: ['k'] }), {
    code: 'NOT_SUPPORTED',
    message: 'This wallet does not support sweeping keys'
  })
  await t.throwsAsync(async () => plain.makeSpend({ ...pay(), privateKeys: ['k'] } as SpendInfo), {
    code: 'SPEND_WITH_KEYS',
    message: 'Only sweepPrivateKeys accepts private keys'
  })

  let signature: unknown = 'signed'
  let signedTx = 'bytes'
  const requested: unknown[] = []
  const able = await openToy(t, {
    engine: () => ({
      async signMessage(message, keys, options) {
        requested.push([message, Object.keys(keys).includes('toyKey'), options])
        return signature as string
      },
      async sweepPrivateKeys(spend, foreignKeys) {
        requested.push([spend.spendTargets.length, 'privateKeys' in spend, foreignKeys])
        return toyTransaction('swept', { signedTx })
      }
    })
  })
  const options = { otherParams: { publicAddress: 'mine' } }
  t.is(await able.signMessage('hello', options), 'signed')
  const swept = await able.sweepPrivateKeys({ ...pay({ metadata: { notes: 'found' } }), privateKeys: ['k'] })
  t.deepEqual(requested, [
    ['hello', true, options],
    [1, false, ['k']]
  ])
  t.like(swept, { txid: 'swept', signedTx, isSend: false, walletId: able.id, metadata: { notes: 'found' } })
  await able.saveTx(await able.broadcastTx(swept))
  t.is((await able.getTransaction('swept')).metadata.notes, 'found')

  for (const bad of ['', 7, undefined]) {
    signature = bad
    await t.throwsAsync(able.signMessage('hello'), { code: 'BOGUS_DATA' })
  }
  signedTx = 7 as never
  await t.throwsAsync(able.sweepPrivateKeys({ ...pay(), privateKeys: ['k'] }), { code: 'BOGUS_TX' })
})

test('a single memo of the type of the currency is copied to the target of the spend, and no other is [5.41]', async t => {
  const targetsFor = async (info: Partial<CurrencyInfo>, request: SpendInfo): Promise<unknown> => {
    const seen: SpendInfo[] = []
    const onCall = (method: string, args: readonly unknown[]): void => {
      if (method === 'makeSpend') seen.push(args[0] as SpendInfo)
    }
    const wallet = await openToy(t, { info, onCall })
    await wallet.makeSpend(request)
    return seen[0]?.spendTargets.map(({ memo, uniqueIdentifier }) => [memo, uniqueIdentifier])
  }
  const text = { type: 'text', value: 'order 7' } as const
  const number = { type: 'number', value: '7' } as const
  const ofText: Partial<CurrencyInfo> = { memoOptions: [{ type: 'text' }] }
  const none = [[undefined, undefined]]
  t.deepEqual(await targetsFor(ofText, pay({ memos: [text] })), [['order 7', 'order 7']])
  // A memo that the chain does not carry would be lost on the way.
  await t.throwsAsync(targetsFor(ofText, pay({ memos: [number] })), { code: 'MEMO_INVALID' })
  t.deepEqual(await targetsFor(ofText, pay({ memos: [text, text] })), none)
  t.deepEqual(await targetsFor(ofText, pay()), none)
  t.deepEqual(await targetsFor({}, pay({ memos: [text] })), none)
})

test('what a currency cannot do is refused in words: tokens, and links of the payment protocol [8.78]', async t => {
  const { account } = await makeKnownUser(t).logIn()
  const wallet = await account.createCurrencyWallet('wallet:bitcoin')
  const noTokens = { code: 'NOT_SUPPORTED', message: 'This wallet does not support tokens' }
  const token = {
    currencyCode: 'USDX',
    displayName: 'A dollar',
    denominations: [{ name: 'USDX', multiplier: '100' }],
    networkLocation: { contractAddress: '0xaa' }
  }
  await t.throwsAsync(account.currencyConfig('bitcoin').addCustomToken(token), noTokens)
  await t.throwsAsync(wallet.makeSpend(pay({ tokenId: 'usdx' })), noTokens)
  const { publicAddress } = await wallet.getReceiveAddress()
  const request = 'r=https://pay.example/i/7'
  for (const link of [`bitcoin:?${request}`, `BITCOIN:?${encodeURI(request)}&amount=1`])
    await t.throwsAsync(wallet.parseUri(link), {
      code: 'NOT_SUPPORTED',
      message: 'This wallet does not support the payment protocol'
    })
  const scheme = (await wallet.encodeUri({ publicAddress })).split(':')[0]
  t.like(await wallet.parseUri(`${scheme}:${publicAddress}?${request}`), { publicAddress })
})

test('the fee of a sweep is measured against what the keys hold, and against the limit of the call', async t => {
  let held = '2000'
  const wallet = await openToy(t, {
    engine: () => ({
      sweepPrivateKeys: async () => ({
        ...toyTransaction('swept', { signedTx: 'bytes', nativeAmount: nativeAmount(held) }),
        ...{ networkFee: nativeAmount('100'), usualNetworkFee: nativeAmount('5') }
      })
    })
  })
  const sweep = (maxNetworkFee?: string) =>
    wallet.sweepPrivateKeys({
      ...pay(),
      privateKeys: ['k'],
      ...(maxNetworkFee !== undefined && { maxNetworkFee: nativeAmount(maxNetworkFee) })
    })
  t.is((await sweep()).txid, 'swept')
  t.is((await sweep('100')).txid, 'swept')
  await t.throwsAsync(sweep('99'), { code: 'MAX_FEE' })
  held = '1000'
  t.is((await sweep()).txid, 'swept')
  held = '999'
  await t.throwsAsync(sweep(), { code: 'FEE_UNUSUAL' })
})

test('a sweep that is signed otherwise than policies were asked is refused', async t => {
  const wallet = await openToy(t, {
    engine: () => ({
      sweepPrivateKeys: async () => toyTransaction(''),
      signSweep: async draft => ({
        ...draft,
        ...{ txid: 'swept', signedTx: 'bytes', nativeAmount: nativeAmount('4') }
      })
    })
  })
  await t.throwsAsync(wallet.sweepPrivateKeys({ ...pay(), privateKeys: ['k'] }), {
    code: 'SIGNED_OTHERWISE'
  })
  const early = await openToy(t, {
    engine: () => ({
      sweepPrivateKeys: async () => toyTransaction('swept', { signedTx: 'bytes' }),
      signSweep: async draft => draft
    })
  })
  await t.throwsAsync(early.sweepPrivateKeys({ ...pay(), privateKeys: ['k'] }), { code: 'BOGUS_TX' })
})

test('verifying a message needs no account, and what the currency says is checked', async t => {
  let verdict: unknown = 'valid'
  const seen: unknown[] = []
  const toy = makeToy({
    tools: {
      async verifyMessage(signed) {
        seen.push(signed)
        return verdict as 'valid'
      }
    }
  })
  const { kernel } = await makeKnownUser(t).logIn({ plugins: [toy.plugin] })
  const signed = { message: 'hello', address: 'shop', signature: 's' }
  for (const given of ['valid', 'invalid', 'inconclusive'] as const) {
    verdict = given
    t.is(
      await kernel.context.verifyMessage('toycoin', { ...signed, privateKey: 'k' } as typeof signed),
      given
    )
  }
  t.deepEqual(seen, [signed, signed, signed])
  for (const bad of [true, undefined, 'VALID', {}]) {
    verdict = bad
    await t.throwsAsync(kernel.context.verifyMessage('toycoin', signed), { code: 'BOGUS_DATA' })
  }
  await t.throwsAsync(kernel.context.verifyMessage('gold', signed), { code: 'OPTION_INVALID' })
  await t.throwsAsync(kernel.context.verifyMessage('toycoin', { ...signed, address: 7 as never }), {
    code: 'OPTION_INVALID'
  })
  const plain = await makeKnownUser(t).logIn({ plugins: [makeToy().plugin] })
  await t.throwsAsync(plain.kernel.context.verifyMessage('toycoin', signed), {
    code: 'NOT_SUPPORTED',
    message: 'This wallet does not support verifying messages'
  })
})
