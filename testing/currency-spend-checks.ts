import {
  type EngineTransaction,
  isNativeAmount,
  isWalletError,
  type SpendInfo
} from '../kernel/plugin-api.ts'
import {
  type CurrencyBench,
  errorOf,
  fundedWallet,
  mine,
  spendOf,
  spendTo,
  type TestedWallet,
  until,
  untilConfirmed
} from './currency-lab.ts'
import { type Check, describeError, must, skip } from './suite.ts'

const DOCS = 'docs/write-a-plugin.md#a-currency'

/** The checks of a currency that pay. */
export const currencySpendChecks: readonly Check<CurrencyBench>[] = [
  {
    id: 'currency.spend',
    level: 'quick',
    reason: 'A user approves the draft: what is signed and sent costs exactly that.',
    clause: DOCS,
    hint: 'Choose coins and fee in makeSpend, keep them in otherParams, and only sign in signTx.',
    async run(bench) {
      const wallet = await fundedWallet(bench)
      const before = wallet.balance()
      const { draft, signed } = await signSpend(wallet, await spendOf(bench, String(before / 3n)))
      must(draft.signedTx === '', () => 'A draft is signed already')
      const isExact = isNativeAmount(draft.networkFee) && /^-\d+$/.test(draft.nativeAmount)
      must(isExact, () => `A draft has the amount ${draft.nativeAmount} and the fee ${draft.networkFee}`)
      must(signed.signedTx !== '' && signed.txid !== '', () => 'A signed transaction has no txid or no bytes')
      const [found, expected] = [reviewedOf(signed), reviewedOf(draft)]
      must(found === expected, () => `Signing changes the draft: ${found} instead of ${expected}`)
      await sendSpend(wallet, signed)
      const left = before - before / 3n - BigInt(signed.networkFee)
      must(wallet.balance() === left, () => `After the spend ${wallet.balance()} are left, not ${left}`)
    }
  },
  {
    id: 'currency.repeat',
    level: 'full',
    reason: 'After a lost answer the kernel sends the same bytes again.',
    clause: DOCS,
    hint: 'Take a transaction that the network has already as sent, and save one that is saved already.',
    async run(bench) {
      const wallet = await fundedWallet(bench)
      const { signed } = await signSpend(wallet, await spendOf(bench, String(wallet.balance() / 3n)))
      await sendSpend(wallet, signed)
      const left = wallet.balance()
      const error = await errorOf(() => wallet.engine.broadcastTx(signed, {}))
      must(error === undefined, () => `Sent a second time, it throws ${describeError(error)}`)
      await wallet.engine.saveTx(signed)
      await mine(bench, 1)
      await untilConfirmed(wallet, signed.txid, 'A spend that is in a block is not reported as such')
      must(wallet.balance() === left, () => `Sent twice, ${wallet.balance()} are left, not ${left}`)
    }
  },
  {
    id: 'currency.max',
    level: 'full',
    reason: 'The maximum empties the wallet, to the last unit.',
    clause: '9.32',
    hint: 'Give from getMaxSpendable exactly what makeSpend can pay; leave it out if that is not known.',
    async run(bench) {
      const wallet = await fundedWallet(bench)
      const { engine } = wallet
      if (engine.getMaxSpendable === undefined) return skip('It has no getMaxSpendable')
      const target = await spendOf(bench, '1')
      const max = await engine.getMaxSpendable(target, {})
      const [{ publicAddress = '' } = {}] = target.spendTargets
      const error = await errorOf(() =>
        engine.makeSpend(spendTo(publicAddress, String(BigInt(max) + 1n)), {})
      )
      const found = describeError(error)
      must(isWalletError(error, 'INSUFFICIENT_FUNDS'), () => `One unit more than the maximum throws ${found}`)
      const { signed } = await signSpend(wallet, spendTo(publicAddress, max))
      await sendSpend(wallet, signed)
      must(wallet.balance() === 0n, () => `After a spend of the maximum ${wallet.balance()} are left`)
    }
  },
  {
    id: 'currency.sample',
    level: 'full',
    reason: 'A fee that is quoted before the payee is known has to cover any payee.',
    clause: DOCS,
    hint: 'Let sampleAddress give an address of the largest kind that can be paid.',
    async run(bench) {
      const sample = await bench.tools.sampleAddress?.()
      if (sample === undefined) return skip('It has no sampleAddress')
      const read = (await bench.tools.parseUri(sample)).publicAddress
      must(read === sample, () => `Its sample address is read as ${read}`)
      const { engine, ...wallet } = await fundedWallet(bench)
      const amount = String(wallet.balance() / 3n)
      const quoted = await engine.makeSpend(spendTo(sample, amount), {})
      const paid = await engine.makeSpend(await spendOf(bench, amount), {})
      const isCovered = BigInt(paid.networkFee) <= BigInt(quoted.networkFee)
      must(isCovered, () => `The fee is ${paid.networkFee}, and ${quoted.networkFee} to the sample address`)
    }
  },
  {
    id: 'currency.fees',
    level: 'full',
    reason: 'A user who chooses a higher fee level pays for speed, not for nothing.',
    clause: DOCS,
    hint: 'Let low cost at most standard, and standard at most high.',
    async run(bench) {
      const { engine, ...wallet } = await fundedWallet(bench)
      const spend = await spendOf(bench, String(wallet.balance() / 3n))
      const fees: bigint[] = []
      for (const networkFeeOption of ['low', 'standard', 'high'] as const)
        fees.push(BigInt((await engine.makeSpend({ ...spend, networkFeeOption }, {})).networkFee))
      const isOrdered = fees.every((fee, at) => at === 0 || (fees[at - 1] ?? 0n) <= fee)
      must(isOrdered, () => `The fees of low, standard and high are ${fees.join(', ')}`)
    }
  },
  {
    id: 'currency.refusals',
    level: 'quick',
    reason: 'The code says what a user can do about a payment that is impossible.',
    clause: '8.34',
    hint: 'Throw NO_AMOUNT_SPECIFIED, INSUFFICIENT_FUNDS, DUST_SPEND, SPEND_TO_SELF or ADDRESS_INVALID.',
    async run(bench) {
      const { dustAmount, foreignAddress } = bench.network
      const wallet = await fundedWallet(bench)
      const some = String(wallet.balance() / 3n)
      await mustRefuse(wallet, await spendOf(bench, '0'), 'NO_AMOUNT_SPECIFIED', 'of nothing')
      const tooMuch = `${wallet.balance()}000`
      await mustRefuse(wallet, await spendOf(bench, tooMuch), 'INSUFFICIENT_FUNDS', 'of more than there is')
      if (dustAmount !== undefined)
        await mustRefuse(wallet, await spendOf(bench, dustAmount), 'DUST_SPEND', 'of dust')
      await mustRefuse(wallet, spendTo(await wallet.address(), some), 'SPEND_TO_SELF', 'to the wallet itself')
      await mustRefuse(wallet, spendTo(foreignAddress, some), 'ADDRESS_INVALID', 'to a foreign address')
    }
  },
  {
    id: 'currency.pending',
    level: 'full',
    reason: 'Money of others that waits can still be taken back.',
    clause: '8.36',
    hint: 'Throw PENDING_FUNDS where only unconfirmed receipts are missing, unless noUnconfirmed is false.',
    async run(bench) {
      if (bench.network.mine === undefined) return skip('The network confirms at once')
      const wallet = await fundedWallet(bench)
      const before = wallet.balance()
      await bench.network.fund(await wallet.address(), bench.network.someAmount)
      await until(() => wallet.balance() > before, 'A payment that waits is not in the balance')
      const spend = await spendOf(bench, String(before + 1000n))
      await mustRefuse(wallet, { ...spend, noUnconfirmed: true }, 'PENDING_FUNDS', 'of what waits')
      await mustRefuse(wallet, spend, 'PENDING_FUNDS', 'of what waits')
      const error = await errorOf(() => wallet.engine.makeSpend({ ...spend, noUnconfirmed: false }, {}))
      must(error === undefined, () => `With noUnconfirmed: false it throws ${describeError(error)}`)
    }
  }
]

/** What a person and a policy have seen of a payment: signing leaves it as it is. */
const reviewedOf = (tx: EngineTransaction): string => {
  const {
    txid: _txid,
    signedTx: _signedTx,
    date: _date,
    otherParams: _params,
    txSecret: _secret,
    ...facts
  } = tx
  return JSON.stringify(Object.entries(facts).sort())
}

/** Drafts and signs a spend. */
export const signSpend = async (
  { engine, privateKeys }: TestedWallet,
  spend: SpendInfo
): Promise<{ readonly draft: EngineTransaction; readonly signed: EngineTransaction }> => {
  const draft = await engine.makeSpend(spend, {})
  // The kernel keeps drafts as JSON.
  const signed = await engine.signTx(structuredClone(draft), privateKeys)
  return { draft, signed }
}

/** Sends a signed spend and saves it. */
export const sendSpend = async ({ engine }: TestedWallet, signed: EngineTransaction): Promise<void> => {
  const sent = await engine.broadcastTx(signed, {})
  must(sent.txid === signed.txid, () => `Sent, the transaction has the txid ${sent.txid}, not ${signed.txid}`)
  await engine.saveTx(signed)
}

const mustRefuse = async (
  { engine }: TestedWallet,
  spend: SpendInfo,
  code: Parameters<typeof isWalletError>[1] & string,
  what: string
): Promise<void> => {
  const error = await errorOf(() => engine.makeSpend(spend, {}))
  const found = describeError(error)
  must(isWalletError(error, code), () => `A spend ${what} throws ${found}, not ${code}`)
}
