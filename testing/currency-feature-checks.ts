import { nativeAmount, type SpendInfo } from '../kernel/plugin-api.ts'
import { readValue } from '../kernel/schema/method-schema.ts'
import { checkStakingStatus, isBalance } from '../kernel/wallet/engine/validate.ts'
import {
  type CurrencyBench,
  errorOf,
  fundedWallet,
  mine,
  spendOf,
  type TestedWallet,
  type TokenNetwork,
  until
} from './currency-lab.ts'
import { sendSpend, signSpend } from './currency-spend-checks.ts'
import { type Check, describeError, must, skip } from './suite.ts'

const DOCS = 'docs/write-a-plugin.md#a-currency'
const REFERENCE = 'docs/plugins/currency-reference.md'

/** The checks of what not every currency has: tokens, staking, activation, methods of its own, pauses. */
export const currencyFeatureChecks: readonly Check<CurrencyBench>[] = [
  {
    id: 'currency.tokens',
    level: 'full',
    reason: 'A wallet shows and counts the tokens that are switched on, each in its own units.',
    clause: DOCS,
    hint: 'Bring tokens with codes and units in builtinTokens, and report balances and transactions with their tokenId.',
    async run(bench) {
      const { tokenId, someAmount, fund } = tokenOf(bench)
      const tokens = await bench.builtinTokens()
      const { [tokenId]: token } = tokens
      must(token !== undefined, () => `builtinTokens has no ${tokenId}`)
      for (const [id, { currencyCode, denominations }] of Object.entries(tokens)) {
        must(currencyCode !== '', () => `The token ${id} has no code`)
        const isOdd = denominations.length === 0 || denominations.some(unit => !/^10*$/.test(unit.multiplier))
        must(!isOdd, () => `The units of the token ${id} are no powers of ten`)
      }
      const own = await bench.tools.getTokenId?.(token)
      must(own === undefined || own === tokenId, () => `getTokenId calls the token ${tokenId} ${own}`)
      const wallet = await bench.openWallet({ enabledTokenIds: [tokenId] })
      const txid = await fund(await wallet.address(), someAmount)
      await mine(bench, 1)
      await untilToken(wallet, tokenId, someAmount)
      const tx = wallet.reports.tokenTxs.get(`${tokenId} ${txid}`)
      must(tx !== undefined, () => 'The balance of a token has come, and its transaction has not')
      must(tx.nativeAmount === someAmount, () => `Its amount is ${tx.nativeAmount}, not ${someAmount}`)
      must(wallet.balance() === 0n, () => 'Money of a token is counted as money of the coin')
      await wallet.engine.changeEnabledTokenIds?.([])
      await wallet.engine.changeEnabledTokenIds?.([tokenId])
      await wallet.engine.syncNetwork({})
      await untilToken(wallet, tokenId, someAmount)
    }
  },
  {
    id: 'currency.token-spend',
    level: 'full',
    reason: 'A payment of a token costs the token and, for the network, the coin: neither is counted twice.',
    clause: `${REFERENCE}#several-network-fees`,
    hint: 'Give the amount in the token, and what the network takes of the coin as parentNetworkFee.',
    async run(bench) {
      const { tokenId, someAmount, fund } = tokenOf(bench)
      const wallet = await fundedWallet(bench, undefined, [tokenId])
      await fund(await wallet.address(), someAmount)
      await mine(bench, 1)
      await untilToken(wallet, tokenId, someAmount)
      const coins = wallet.balance()
      const paid = String(BigInt(someAmount) / 3n)
      const spend: SpendInfo = { ...(await spendOf(bench, paid)), tokenId }
      const { draft, signed } = await signSpend(wallet, spend)
      must(draft.tokenId === tokenId, () => `The draft is of ${draft.tokenId}`)
      const fee = BigInt(draft.parentNetworkFee ?? '0')
      const cost = BigInt(paid) + BigInt(draft.networkFee)
      must(
        draft.nativeAmount === String(-cost),
        () => `The draft takes ${draft.nativeAmount} of the token, not -${cost}`
      )
      await sendSpend(wallet, signed)
      await wallet.engine.syncNetwork({})
      await untilToken(wallet, tokenId, String(BigInt(someAmount) - cost))
      must(wallet.balance() === coins - fee, () => `${wallet.balance()} coins are left, not ${coins - fee}`)
    }
  },
  {
    id: 'currency.staking',
    level: 'full',
    reason: 'The kernel refuses a staking status with a wrong field, and asks for it once for each engine.',
    clause: DOCS,
    hint: 'Give amounts as digits, dates as ISO text, and the stakes that the chain has.',
    async run(bench) {
      const { network } = bench
      const wallet = await fundedWallet(bench)
      const { engine } = wallet
      if (engine.getStakingStatus === undefined) return skip('It has no getStakingStatus')
      const read = async (): Promise<readonly string[]> => {
        const status = checkStakingStatus(network.plugin.id, await engine.getStakingStatus?.())
        return status.stakedAmounts.map(stake => stake.nativeAmount)
      }
      const before = await read()
      if (network.stake === undefined) return
      const staked = String(wallet.balance() / 2n)
      await network.stake(await wallet.address(), staked)
      await mine(bench, 1)
      await engine.syncNetwork({})
      const after = await read()
      const isShown = after.length === before.length + 1 && after.includes(staked)
      must(isShown, () => `After a stake of ${staked} it says ${after.join(', ') || 'nothing'}`)
    }
  },
  {
    id: 'currency.activation',
    level: 'full',
    reason: 'A user approves the cost of an activation: its payments take no more than it says.',
    clause: DOCS,
    hint: 'Give getActivationAssets and activateWallet together; let the spends add up to fromNativeAmount at most.',
    async run(bench) {
      const { plugin } = bench.network
      const { engine, ...wallet } = await fundedWallet(bench)
      const { getActivationAssets, activateWallet } = engine
      if (getActivationAssets === undefined && activateWallet === undefined)
        return skip('Its wallets need no activation')
      must(
        getActivationAssets !== undefined && activateWallet !== undefined,
        () => 'Of getActivationAssets and activateWallet one is missing'
      )
      const before = wallet.balance()
      const { pluginId, walletType: type } = plugin.info
      const wallets = [{ walletId: 'tested', pluginId, type }]
      const assets = await engine.getActivationAssets?.({ wallets })
      const isList = Array.isArray(assets) && assets.length > 0
      must(isList, () => 'getActivationAssets names no asset that can pay')
      const offer = await engine.activateWallet?.({})
      must(offer !== undefined, () => 'activateWallet gives no offer')
      const { fromNativeAmount: cost, networkFee, spends } = offer
      const isOffer = isBalance(cost) && isBalance(networkFee.nativeAmount) && Array.isArray(spends)
      must(isOffer, () => 'An amount of the offer is no digits, or its spends are no list')
      const paid = spends
        .flatMap(({ spendTargets }) => spendTargets)
        .reduce((sum, target) => sum + BigInt(target.nativeAmount ?? '0'), 0n)
      must(paid <= BigInt(cost), () => `The offer says ${cost}, and its spends pay ${paid}`)
      await engine.syncNetwork({})
      must(wallet.balance() === before, () => 'Asking for the cost of an activation has spent something')
    }
  },
  {
    id: 'currency.other-methods',
    level: 'quick',
    reason: 'The kernel calls the methods that the info declares, and refuses a result of another shape.',
    clause: `${REFERENCE}#methods-of-its-own`,
    hint: 'Answer each method of info.otherMethods in otherMethods of the engine, with what its schema says.',
    async run(bench) {
      const { otherMethods } = bench.network.plugin.info
      if (otherMethods === undefined) return skip('It declares no methods of its own')
      const { engine } = await bench.openWallet()
      for (const [name, { arguments: args, result }] of Object.entries(otherMethods)) {
        const method = engine.otherMethods?.[name]
        must(typeof method === 'function', () => `Its engine has no ${name}, which its info declares`)
        if ((args.required ?? []).length > 0) continue
        const fail = (path: string, rule: string): Error =>
          new TypeError(`The result of ${name}${path === '' ? '' : `, ${path},`} ${rule}`)
        const error = await errorOf(async () =>
          readValue(result, await method.call(engine.otherMethods, {}), { isStrict: false, fail })
        )
        must(error === undefined, () => describeError(error))
      }
    }
  },
  {
    id: 'currency.pause',
    level: 'full',
    reason: 'A paused wallet looks at nothing; once it is resumed, it shows what has happened meanwhile.',
    clause: `${REFERENCE}#pauses`,
    hint: 'Close connections and cancel timers at changePaused(true), and look again at changePaused(false) and syncNetwork.',
    async run(bench) {
      const { engine, reports, balance, ...wallet } = await bench.openWallet()
      if (engine.changePaused === undefined) return skip('A pause kills its engines')
      const address = await wallet.address()
      wallet.stopSyncing()
      await engine.changePaused(true)
      const { count } = reports
      const txid = await bench.network.fund(address, bench.network.someAmount)
      // Another wallet shows that the network has gone on.
      await fundedWallet(bench)
      must(reports.count === count, () => `It reports ${reports.count - count} times while it is paused`)
      await engine.changePaused(false)
      await engine.syncNetwork({})
      await until(
        () => reports.txs.has(txid) && balance() === BigInt(bench.network.someAmount),
        'A payment that came during a pause is not reported after it'
      )
    }
  },
  {
    id: 'currency.secrets',
    level: 'quick',
    reason: 'Logs, caches and dumps are shown to people and kept: no key may be in one.',
    clause: DOCS,
    hint: 'Use the private keys in the call that brings them, and put them nowhere.',
    async run(bench) {
      const wallet = await fundedWallet(bench)
      const { engine, privateKeys, store, files } = wallet
      const spend = await spendOf(bench, String(wallet.balance() / 3n))
      const { draft, signed } = await signSpend(wallet, spend)
      await sendSpend(wallet, signed)
      const kept = [...store.entries('')].map(entry => entry.join(' '))
      for (const place of [files.localFiles, files.syncedFiles])
        for (const path of await place.list('')) kept.push(path, (await place.getText(path)) ?? '')
      const places: Readonly<Record<string, string>> = {
        'a line of its log': wallet.lines.join('\n'),
        'its store': kept.join('\n'),
        'a transaction': JSON.stringify([draft, signed, ...wallet.reports.txs.values()]),
        'its dump': JSON.stringify((await engine.dumpData?.()) ?? null)
      }
      const secrets = Object.values(privateKeys)
        .map(String)
        .filter(secret => secret.length > 12)
      for (const [place, text] of Object.entries(places))
        must(!secrets.some(secret => text.includes(secret)), () => `A private key stands in ${place}`)
    }
  }
]

const tokenOf = ({ network }: CurrencyBench): TokenNetwork =>
  network.token ?? skip('The network of the suite has no token')

const untilToken = (wallet: TestedWallet, tokenId: string, amount: string): Promise<void> =>
  until(
    () => BigInt(wallet.reports.tokenBalances.get(tokenId) ?? '0') === BigInt(nativeAmount(amount)),
    `The balance of ${tokenId} does not become ${amount}`
  )
