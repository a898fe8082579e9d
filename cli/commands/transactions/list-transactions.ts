import { findTransactions, historyOf } from '../../../app/actions/find-transactions.ts'
import { tokenFeesOf } from '../../../app/actions/open-payment-checks.ts'
import { decimalText } from '../../../app/format/amounts.ts'
import { tokenFeeText } from '../../../app/format/payment-texts.ts'
import {
  amountText,
  type CurrencyWallet,
  compact,
  isWalletError,
  nativeAmount,
  type Transaction,
  type TransactionsSnapshot,
  type Txid,
  WalletError
} from '../../../kernel/index.ts'
import { CliError } from '../../errors/cli-error.ts'
import { parseCount } from '../../grammar/options.ts'
import { localTime } from '../../output/texts.ts'
import {
  confirmationCell,
  type Effect,
  txDetailsJson,
  txJson,
  txLine,
  txTable
} from '../../output/transaction-texts.ts'
import type { CellLike, CommandResult } from '../../output/view.ts'
import { assetsOf, chosenAsset, coinOf } from '../../session/assets.ts'
import type { CommandRun } from '../../session/command.ts'
import { openEventQueue, openEventStream } from '../../session/event-stream.ts'
import { chooseWallets, findWallet, leftOutWarnings, syncWallets } from '../../session/find-wallets.ts'
import type { Session } from '../../session/session.ts'
import { chosenAssets, filterOf } from '../../session/transaction-selection.ts'
import { openPaymentJson, sentStateText } from '../../spend/open-payments.ts'

/** Lists the transactions of one wallet, or of several, newest first. */
export const txList: CommandRun = (session, text) => listOf(session, text, session.text('search'))

/** Searches transactions by names, notes, amounts, addresses and txids. */
export const txSearch: CommandRun = (session, search = '', text = undefined) => listOf(session, text, search)

const DEFAULT_LIMIT = '100'
const MAX_LIMIT = 1_000_000

const listOf = async (
  session: Session,
  text: string | undefined,
  searchString: string | undefined
): Promise<CommandResult> => {
  const limit = parseCount(session.text('limit') ?? DEFAULT_LIMIT, 'limit', [1, MAX_LIMIT])
  const filter = filterOf(session, searchString)
  const wallets = await chooseWallets(session, text === undefined ? [] : [text])
  if (filter.before !== undefined && wallets.length > 1) {
    throw new CliError('USAGE', '--before needs the name of one wallet')
  }
  const warnings = [...(await leftOutWarnings(session, [text])), ...(await syncWallets(session, wallets))]
  await Promise.all(wallets.map(wallet => wallet.lookAtOpenPayments()))
  const places = await chosenAssets(session, wallets)
  const { effects, hasMore } = await findTransactions(places, filter, {
    limit,
    onBatch: () => session.signal.throwIfAborted()
  })
  const open = wallets.flatMap(wallet =>
    wallet.getSnapshot().openPayments.map(payment => ({ wallet, payment }))
  )
  const unlisted = open.filter(({ payment }) => payment.state === 'refused' || payment.state === 'signed')
  return {
    data: {
      transactions: effects.map(({ asset, tx }) => txJson(tx, asset)),
      openPayments: open.map(({ wallet, payment }) => openPaymentJson(wallet, payment)),
      more: hasMore
    },
    warnings,
    view: txTable(effects, emptySentence(session, searchString)),
    advice: [
      ...(hasMore ? [moreSentence(effects, wallets.length)] : []),
      ...(unlisted.length === 0
        ? []
        : [`${unlisted.length} more may still be mined and are not in the history yet: holdfast tx open`])
    ]
  }
}

const moreSentence = (effects: readonly Effect[], walletCount: number): string => {
  const last = effects.at(-1)
  return walletCount === 1 && last !== undefined
    ? `There are more; continue with --before ${last.tx.txid}`
    : `There are more; raise --limit, up to ${MAX_LIMIT}, or list one wallet at a time`
}

const FILTERS = ['since', 'until', 'state', 'token', 'before'] as const

const emptySentence = (session: Session, search: string | undefined): string =>
  search !== undefined ||
  session.isOn('in') ||
  session.isOn('out') ||
  FILTERS.some(flag => session.text(flag))
    ? 'No transaction matches.'
    : 'There are no transactions yet.'

type Fields = readonly (readonly [string, CellLike])[]

/** Shows all facts of one transaction. */
export const txShow: CommandRun = async (session, text = '', txid = '') => {
  const wallet = await session.synced(await findWallet(session, text))
  const asset = await chosenAsset(session, wallet)
  await wallet.lookAtOpenPayments()
  const tx = await wallet.getTransaction(txid, asset.tokenId)
  const raw = session.isOn('raw')
  return {
    data: { tx: { ...txDetailsJson(tx, asset), ...compact({ signedTx: raw ? tx.signedTx : undefined }) } },
    view: {
      kind: 'record',
      fields: [
        ...chainFields({ wallet, asset, tx }),
        ...swapFields({ wallet, asset, tx }),
        ...noteFields({ wallet, asset, tx }),
        ...(raw ? ([['signed', tx.signedTx]] as const) : [])
      ]
    }
  }
}

const chainFields = ({ wallet, asset, tx }: Effect): Fields => [
  ['txid', tx.txid],
  ['date', localTime(new Date(tx.date * 1000))],
  ['direction', tx.isSend ? 'out' : 'in'],
  ['amount', amountText(tx.nativeAmount, asset)],
  tx.parentNetworkFee === undefined
    ? ['network fee', amountText(tx.networkFee, asset)]
    : ['network fee', amountText(tx.parentNetworkFee, coinOf(wallet))],
  ...(tokenFeesOf(wallet, [tx]).tokenFees ?? []).map(paid => ['and a fee', tokenFeeText(paid)] as const),
  ...pairsOf('fee rate', tx.feeRateUsed ?? {}),
  ['state', confirmationCell(tx.confirmations)],
  ['grade', tx.grade ?? ''],
  ['network', tx.sentState === undefined ? '' : sentStateText(tx.sentState, tx)],
  ['height', tx.blockHeight > 0 ? String(tx.blockHeight) : ''],
  ...(tx.spendTargets ?? []).map(
    ({ publicAddress, nativeAmount: amount }) =>
      ['to', `${publicAddress}  ${amountText(nativeAmount(amount), asset)}`] as const
  ),
  ...(tx.isSend ? [] : tx.ourReceiveAddresses).map(address => ['at', address] as const),
  ...tx.memos.map(({ value }) => ['memo', value] as const)
]

const swapFields = ({ tx: { swapData } }: Effect): Fields =>
  swapData === undefined
    ? []
    : [
        ['swap', `${swapData.plugin.displayName}${swapData.isEstimate ? ', estimated' : ''}`],
        ['swap order', swapData.orderId ?? ''],
        ['swap page', swapData.orderUri ?? ''],
        ['paid out', `${swapData.payoutNativeAmount} native units of ${swapData.payoutCurrencyCode}`],
        ['paid out to', swapData.payoutAddress]
      ]

const noteFields = ({ tx: { metadata, deviceDescription = '' } }: Effect): Fields => [
  ['name', metadata.name ?? ''],
  ['category', metadata.category ?? ''],
  ['notes', metadata.notes ?? ''],
  ...Object.entries(metadata.exchangeAmount ?? {}).map(
    ([code, value]) => ['worth then', `${decimalText(value)} ${code.replace('iso:', '')}`] as const
  ),
  ['made on', deviceDescription]
]

const pairsOf = (label: string, values: object): Fields =>
  Object.entries(values).map(([key, value]) => [label, `${String(value)} ${key}`] as const)

/**
 * Reports each transaction that is new, changed or dropped, until the command is stopped.
 *
 * @throws LOGGED_OUT when an agent drops its keys
 */
export const txWatch: CommandRun = async (session, ...texts) => {
  const events = openEventQueue<TransactionsSnapshot | 'account'>(session.signal)
  session.observe(({ hooks }) => {
    hooks.transactionsChanged.tap('watch', events.push)
    hooks.accountChanged.tap('watch', () => events.push('account'))
  })
  const wallets = new Map((await chooseWallets(session, texts)).map(wallet => [wallet.id, wallet]))
  for (const warning of await syncWallets(session, [...wallets.values()])) session.statusLine.warn(warning)
  const stream = openEventStream(session)
  await stream.emit('tx.watching', { walletIds: [...wallets.keys()] })
  session.statusLine.info(
    `Watching ${wallets.size} ${wallets.size === 1 ? 'wallet' : 'wallets'}; Ctrl-C ends it`
  )
  const account = await session.account()
  for await (const event of events) {
    if (!account.isLoggedIn) throw new WalletError('LOGGED_OUT', {})
    if (event === 'account') continue
    const { walletId, created, changed } = event
    const wallet = wallets.get(walletId)
    if (wallet === undefined) continue
    const isNew = new Set(created)
    for (const txid of [...created, ...changed]) {
      for (const effect of await effectsOf(session, wallet, txid)) {
        const kind = eventOf(effect.tx, isNew.has(txid))
        await stream.emit(`tx.${kind}`, txJson(effect.tx, effect.asset))
        if (!session.globals.json) await session.print(txLine(kind, effect))
      }
    }
  }
  await stream.end('stopped')
  return undefined
}

const eventOf = ({ confirmations }: Transaction, isNew: boolean): string =>
  confirmations === 'dropped' ? 'dropped' : isNew ? 'new' : 'changed'

/** Returns the effects of a transaction on the assets of the wallet; none of one that is gone. */
const effectsOf = async (
  session: Session,
  wallet: CurrencyWallet,
  txid: Txid
): Promise<readonly Effect[]> => {
  const effects: Effect[] = []
  for (const asset of await assetsOf(session, wallet)) {
    try {
      effects.push({ wallet, asset, tx: await wallet.getTransaction(txid, asset.tokenId) })
    } catch (error) {
      if (!isWalletError(error, 'TX_NOT_FOUND')) throw error
    }
  }
  return effects
}

/** Streams the history of a wallet in batches, newest first. */
export const txStream: CommandRun = async (session, text = '') => {
  const batchSize = parseCount(session.text('batch') ?? '10', 'batch', [1, MAX_BATCH])
  const first = session.text('firstBatch')
  const firstBatchSize = first === undefined ? batchSize : parseCount(first, 'first batch', [1, MAX_BATCH])
  const filter = filterOf(session, session.text('search'))
  const wallet = await session.synced(await findWallet(session, text))
  const asset = await chosenAsset(session, wallet)
  const stream = openEventStream(session, { hasOneShape: true })
  const onBatch = (): void => session.signal.throwIfAborted()
  for await (const batch of historyOf({ wallet, asset }, filter, { batchSize, firstBatchSize, onBatch })) {
    await stream.emit('tx.batch', { transactions: batch.map(tx => txJson(tx, asset)) })
    if (session.globals.json) continue
    for (const tx of batch) await session.print(txLine(undefined, { asset, tx }))
  }
  await stream.end('done')
  return undefined
}

const MAX_BATCH = 10_000
