import { coinActions } from '../../../app/actions/coins.ts'
import { amountJson } from '../../../app/format/amounts.ts'
import { shellWord } from '../../../app/format/safe-text.ts'
import { amountText, compact, nativeAmount } from '../../../kernel/index.ts'
import { CliError } from '../../errors/cli-error.ts'
import type { CommandResult } from '../../output/view.ts'
import { coinOf } from '../../session/assets.ts'
import type { CommandRun } from '../../session/command.ts'
import { findWallet } from '../../session/find-wallets.ts'
import { upload } from '../../session/make-change.ts'
import type { Session } from '../../session/session.ts'
import {
  draftSpend,
  dryResult,
  followed,
  maxFeeOf,
  sentResult,
  syncAfterPayment
} from '../../spend/approve-spend.ts'
import { readFee } from '../../spend/read-spend.ts'

/** Lists the unspent coins of a wallet, with their states and labels. */
export const coinsList: CommandRun = async (session, text = '') => {
  const wallet = await session.synced(await findWallet(session, text))
  const asset = coinOf(wallet)
  const { coins } = await session.run(coinActions['coin.list'], { walletId: wallet.id, limit: MAX_COINS })
  return {
    data: {
      coins: coins.map(
        ({ coin, publicAddress, nativeAmount: native, blockHeight, state, isFrozen, untrusted }) => ({
          ...{ coin, address: publicAddress, amount: amountJson(nativeAmount(native), asset) },
          ...{ height: blockHeight, state, frozen: isFrozen, label: untrusted.label ?? null }
        })
      )
    },
    view: {
      kind: 'table',
      columns: [
        { title: 'COIN', canShrink: true },
        { title: 'AMOUNT', align: 'right' },
        { title: 'STATE' },
        { title: 'BLOCK', align: 'right' },
        { title: 'ADDRESS', canShrink: true },
        { title: 'LABEL', canShrink: true }
      ],
      rows: coins.map(
        ({ coin, publicAddress, nativeAmount: native, blockHeight, state, isFrozen, untrusted }) => [
          coin,
          amountText(nativeAmount(native), wallet.currencyInfo),
          isFrozen && state !== 'frozen' ? `${state}, frozen` : state,
          blockHeight === 0 ? '' : String(blockHeight),
          publicAddress,
          untrusted.label ?? ''
        ]
      ),
      empty: 'The wallet has no coins.'
    }
  }
}

const MAX_COINS = 10_000

/** Freezes coins, so that no payment takes them. */
export const coinsFreeze: CommandRun = (session, text, ...coins) => changeCoins(session, text, coins, true)

/** Lets payments take coins again. */
export const coinsUnfreeze: CommandRun = (session, text, ...coins) => changeCoins(session, text, coins, false)

/** Notes a label of a coin, or removes it. */
export const coinsLabel: CommandRun = (session, text, coin) => changeCoins(session, text, [coin], undefined)

const changeCoins = async (
  session: Session,
  text: string | undefined,
  given: readonly (string | undefined)[],
  isFrozen: boolean | undefined
): Promise<CommandResult> => {
  const wallet = await session.synced(await findWallet(session, text ?? ''))
  const coins = given.filter(coin => coin !== undefined)
  const known = new Set((await wallet.listCoins()).map(({ txid, vout }) => `${txid}:${vout}`))
  const unknown = coins.find(coin => !known.has(coin))
  // The note of a coin that was spent can still be changed.
  if (unknown !== undefined && !(await wallet.coinNotes()).some(({ outpoint }) => outpoint === unknown))
    throw new CliError('NOT_FOUND', 'The wallet has no such coin', {
      details: { coin: unknown },
      next: [{ command: `holdfast coins list ${shellWord(wallet.name ?? wallet.id)}`, why: 'see the coins' }]
    })
  const label = session.text('label') ?? (isFrozen === undefined ? '' : undefined)
  const { dryRun } = session.globals
  if (!dryRun)
    for (const coin of coins)
      await session.run(coinActions['coin.change'], {
        walletId: wallet.id,
        coin,
        ...compact({ isFrozen, label })
      })
  return {
    data: { dryRun, coins, ...compact({ frozen: isFrozen, label }) },
    warnings: dryRun ? [] : await upload(session, wallet),
    view: {
      kind: 'record',
      fields: [
        ...coins.map(coin => ['coin', coin] as const),
        ...(isFrozen === undefined ? [] : [['state', isFrozen ? 'frozen' : 'not frozen'] as const]),
        ...(label === undefined ? [] : [['label', label] as const])
      ]
    }
  }
}

/** Sweeps keys of single addresses into a wallet: one transaction, which is reviewed before it is sent. */
export const sweep: CommandRun = async (session, text = '') => {
  if (session.globals.offline) throw new CliError('USAGE', 'No coins can be looked up with --offline')
  const given = await session.secrets.given('private-key')
  const wallet = await session.synced(await findWallet(session, text))
  const typed =
    given ??
    (await session.secrets.prompt('private-key', {
      message: 'Private key to sweep:',
      check: key => (key.trim() === '' ? 'Type the key' : undefined)
    }))
  const fee = readFee({ fee: session.text('fee'), customFee: session.texts('customFee') })
  const asset = coinOf(wallet)
  const limit = maxFeeOf(session, wallet)
  const { summary, approve, pay } = await draftSpend(session, wallet, {
    ...{ asset, limit },
    make: () =>
      session.run(
        coinActions['spend.sweep'],
        {
          ...{ walletId: wallet.id, privateKeys: typed.split(/\s+/).filter(key => key !== ''), ...fee },
          ...compact({ withUnconfirmed: session.isOn('unconfirmed') || undefined, maxNetworkFee: limit })
        },
        { search: followed(session, 'looking through all coins') }
      )
  })
  if (session.globals.dryRun) return dryResult(summary)
  const sent = await pay(await approve('Send it?'))
  return sentResult(wallet, sent, { asset, warnings: await syncAfterPayment(session, wallet) })
}

/** Hastens an unconfirmed payment, incoming or own, by one that spends its coin and pays for both. */
export const txBump: CommandRun = async (session, text = '', txid = '') => {
  const wallet = await session.synced(await findWallet(session, text))
  const limit = maxFeeOf(session, wallet)
  const fee = readFee({ fee: session.text('fee'), customFee: session.texts('customFee') })
  const asset = coinOf(wallet)
  const { summary, approve, pay } = await draftSpend(session, wallet, {
    ...{ asset, limit },
    make: () => session.run(coinActions['spend.bump'], { walletId: wallet.id, txid, ...fee })
  })
  if (session.globals.dryRun) return dryResult(summary)
  const sent = await pay(await approve('Sign and send it?'))
  return sentResult(wallet, sent, { asset, warnings: await syncAfterPayment(session, wallet) })
}
