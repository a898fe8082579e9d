import type { ExecutionContext } from 'ava'
import test from 'ava'
import { mapStore } from '../../examples/map-store.ts'
import {
  type Account,
  type CurrencyWallet,
  type Disk,
  nativeAmount,
  type ObserverPlugin,
  type StoragePlugin,
  WalletError
} from '../../kernel/index.ts'
import { SortedMap } from '../../kernel/plugin-api.ts'
import { memoryDisk } from '../../plugins/storage/memory.ts'
import { waitFor } from '../helpers/device.ts'
import { makeSilentDisk, type SilentDisk, storageOf } from '../helpers/silent-disk.ts'
import { openToyHome, type ToyHome } from '../helpers/toy-home.ts'

/** A device whose disk a test can silence. */
interface SilentHome extends ToyHome {
  readonly disk: SilentDisk
  readonly files: Map<string, string>
  /** What every engine of this device was asked to send. */
  readonly sent: string[]
  /** What observers, such as the panel, are told of plugins that fail. */
  readonly faults: string[]
}

const openHome = async (t: ExecutionContext): Promise<SilentHome> => {
  const files = new Map<string, string>()
  const disk = makeSilentDisk(files)
  const sent: string[] = []
  const faults: string[] = []
  const observer: ObserverPlugin = {
    kind: 'observer',
    id: 'watcher',
    apply: ({ hooks }) =>
      hooks.pluginFault.tap(
        'watcher',
        ({ pluginId, errorCode }) => void faults.push(`${pluginId} ${errorCode}`)
      )
  }
  const home = await openToyHome(t, {
    ...countingSends(sent),
    device: { storage: storageOf(disk), plugins: [observer] }
  })
  return { ...home, disk, files, sent, faults }
}

const countingSends = (sent: string[]) => ({
  engine: () => ({
    broadcastTx: async <T extends { txid: string }>(tx: T) => {
      sent.push(tx.txid)
      return tx
    }
  })
})

/** How a call ends within the deadline of the disk. */
const endOf = async (
  { clock, disk }: SilentHome,
  call: Promise<unknown>,
  milliseconds = 90_000
): Promise<unknown> => {
  let end: unknown = 'still waits'
  call.then(
    () => {
      end = 'answered'
    },
    error => {
      end = error
    }
  )
  await waitFor(() => disk.unanswered > 0)
  await clock.advance(milliseconds)
  return end
}

const detailsOf = (error: unknown): WalletError<'STORAGE_TIMEOUT'>['details'] =>
  (error as WalletError<'STORAGE_TIMEOUT'>).details

/** Closes what is left of a device and opens its files again; `comesBack` says whether what was not answered is made late. */
const reopen = async (
  t: ExecutionContext,
  home: SilentHome,
  { comesBack }: { readonly comesBack: boolean }
): Promise<SilentHome> => {
  const { clock, disk, files, kernel } = home
  const closing = kernel.close()
  closing.catch(() => {})
  await clock.advance(180_000)
  await t.throwsAsync(closing, { code: 'STORAGE_TIMEOUT' }, 'the end does not wait for the write')
  t.false(disk.isClosed, 'but nobody else can open the files')
  if (comesBack) disk.comeBack()
  await clock.advance(0)
  t.is(disk.isClosed, comesBack)
  const sent: string[] = []
  const next = makeSilentDisk(files)
  const again = await home.another({ ...countingSends(sent), device: { storage: storageOf(next) } })
  return { ...again, disk: next, files, sent, faults: [] }
}

const noteOf = async (account: Account, id: string): Promise<string | undefined> =>
  account.dataStore.getItem('notes', id).catch(() => undefined)

for (const comesBack of [false, true]) {
  const fate = comesBack ? 'performs late' : 'never performs'
  const noted = async (home: SilentHome): Promise<void> =>
    home.account.dataStore.setItem('notes', 'kept', 'told as saved')

  test(`earlier data survives a data store write that the disk does not answer and ${fate}`, async t => {
    const home = await openHome(t)
    await noted(home)
    home.disk.silence('write')
    const end = await endOf(home, home.account.dataStore.setItem('notes', 'late', 'never told as saved'))
    t.is(detailsOf(end).what, 'write')
    await t.throwsAsync(home.account.dataStore.setItem('notes', 'kept', 'newer'), {
      message: 'Nothing is saved: the disk has not answered an earlier write'
    })
    t.is(await noteOf(home.account, 'kept'), 'told as saved')
    t.deepEqual(
      home.reports.filter(([source]) => source === 'silent').map(([, error]) => detailsOf(error).what),
      ['write'],
      'the application is told once'
    )
    t.deepEqual(home.faults, ['silent STORAGE_TIMEOUT'])
    const { account } = await reopen(t, home, { comesBack })
    t.is(await noteOf(account, 'kept'), 'told as saved')
    t.is(await noteOf(account, 'late'), comesBack ? 'never told as saved' : undefined)
    await account.dataStore.setItem('notes', 'late', 'again')
    t.is(await noteOf(account, 'late'), 'again')
  })

  for (const place of [0, 1, 2, 3])
    test(`if the disk does not answer write ${place + 1} of a payment and ${fate} it, the caller learns if it may be sent`, async t => {
      const home = await openHome(t)
      const wallet = await home.account.createCurrencyWallet('wallet:toycoin')
      await waitFor(() => wallet.engine.getSnapshot().state === 'started')
      const draft = await wallet.makeSpend(toShop)
      home.disk.silence('write', place)
      const end = await endOf(home, wallet.spend(draft))
      await t.throwsAsync(wallet.spend(draft), { code: 'STORAGE_TIMEOUT' })
      const txid = `txid-${wallet.id.slice(0, 6)}`
      const hasLeft = place >= NOTES_BEFORE
      t.deepEqual([...new Set(home.sent)], hasLeft ? [txid] : [])
      // What was saved after all goes out when it is found: who was not told that would pay twice.
      const needsRecovery = place === NOTES_BEFORE - 1
      if (hasLeft) t.is(end, 'answered')
      else t.deepEqual(detailsOf(end), { ...detailsOf(end), what: 'write', ...(needsRecovery && { txid }) })

      const again = await reopen(t, home, { comesBack })
      const same = await again.account.openWallet(wallet.id)
      await waitFor(() => same.engine.getSnapshot().state === 'started')
      await waitFor(() => same.unfinishedSpends().length === 0)
      const rows = await same.getTransactions()
      t.deepEqual(
        rows.map(row => row.txid),
        hasLeft || (needsRecovery && comesBack) ? [txid] : []
      )
    })
}

for (const mends of [false, true])
  test(`if the disk cannot say that a payment's last note is saved, and then ${mends ? 'works' : 'fails'}, the error says if it may be sent`, async t => {
    const files = new Map<string, string>()
    const memory = memoryDisk(files)
    let place: number | undefined
    const disk: Disk = {
      ...memory,
      async setText(path, text) {
        const number = place === undefined ? -1 : place++
        const fails = number === NOTES_BEFORE - 1 || (number >= NOTES_BEFORE && !mends)
        if (number < NOTES_BEFORE || !fails) await memory.setText(path, text)
        if (fails) throw new WalletError('STORAGE_FAILED', { path, reason: 'EIO', mayBeSaved: true })
      },
      async delete(path) {
        if (!mends && place !== undefined && place >= NOTES_BEFORE)
          throw new WalletError('STORAGE_FAILED', { path, reason: 'EIO', mayBeSaved: true })
        await memory.delete(path)
      }
    }
    const sent: string[] = []
    const home = await openToyHome(t, { ...countingSends(sent), device: { storage: storageOf(disk) } })
    const wallet = await home.account.createCurrencyWallet('wallet:toycoin')
    await waitFor(() => wallet.engine.getSnapshot().state === 'started')
    const draft = await wallet.makeSpend(toShop)
    place = 0
    const txid = `txid-${wallet.id.slice(0, 6)}`
    const error = await t.throwsAsync<WalletError<'STORAGE_FAILED'>>(wallet.spend(draft), {
      code: 'STORAGE_FAILED',
      message: 'The disk failed: EIO; the change may or may not be saved'
    })
    t.is(error?.details.txid, mends ? undefined : txid)
    t.is(error?.hint?.includes(`if the payment ${txid} was saved after all`), !mends)
    t.deepEqual(sent, [])

    const later = new Map(files)
    const again = await home.another({
      ...countingSends(sent),
      device: { storage: storageOf(memoryDisk(later)) }
    })
    const same = await again.account.openWallet(wallet.id)
    await waitFor(() => same.engine.getSnapshot().state === 'started')
    await waitFor(() => same.unfinishedSpends().length === 0)
    t.deepEqual([...new Set(sent)], mends ? [] : [txid])
    place = undefined
  })

for (const isMade of [true, false])
  test(`if a database loses its answer to the last write of a payment and has ${isMade ? 'made' : 'not made'} it, the payment stays open, and its coins reserved`, async t => {
    const values = new SortedMap<Uint8Array>()
    /** Of the write of file and end, once the payment was sent. */
    let writesLeft = Number.POSITIVE_INFINITY
    const storage: StoragePlugin = {
      kind: 'storage',
      id: 'map-store',
      apply: ({ hooks }) =>
        hooks.openStore.tapPromise('map-store', async () => {
          const store = mapStore(values)
          return {
            ...store,
            async batch(changes) {
              writesLeft -= 1
              if (writesLeft !== 0) return store.batch(changes)
              if (isMade) await store.batch(changes)
              throw new WalletError('STORAGE_FAILED', { path: '', reason: 'EIO', mayBeSaved: true })
            }
          }
        })
    }
    const sent: string[] = []
    const home = await openToyHome(t, {
      engine: () => ({
        signTx: async tx => ({ ...tx, txid: `tx${tx.nativeAmount}`, signedTx: `bytes${tx.nativeAmount}` }),
        async broadcastTx(tx) {
          sent.push(tx.txid)
          if (sent.length === 1) writesLeft = 2
          return tx
        }
      }),
      device: { storage }
    })
    const wallet = await home.account.createCurrencyWallet('wallet:toycoin')
    await waitFor(() => wallet.engine.getSnapshot().state === 'started')
    const openTxids = (): string[] =>
      wallet
        .getSnapshot()
        .openPayments.map(({ txid }) => txid)
        .sort()
    const { txid } = await wallet.spend(await wallet.makeSpend(toShop))
    t.true(writesLeft <= 0, 'the answer was lost')
    t.deepEqual(openTxids(), [txid])
    const spendTargets = [{ publicAddress: 'shop', nativeAmount: nativeAmount('7') }]
    const second = await wallet.spend(await wallet.makeSpend({ tokenId: null, spendTargets }))
    t.deepEqual(openTxids(), [txid, second.txid].sort())
    t.deepEqual(sent, [txid, second.txid])
  })

test('an engine that hangs while it saves a payment holds up no other work of its wallet, and the payment ends when it is done', async t => {
  let isHanging = false
  let goOn = (): void => {}
  const home = await openToyHome(t, {
    engine: () => ({
      signTx: async tx => ({ ...tx, txid: `tx${tx.nativeAmount}`, signedTx: `bytes${tx.nativeAmount}` }),
      async saveTx() {
        if (isHanging)
          await new Promise<void>(resolve => {
            goOn = resolve
          })
      }
    })
  })
  const wallet = await home.account.createCurrencyWallet('wallet:toycoin')
  await waitFor(() => wallet.engine.getSnapshot().state === 'started')
  const first = await wallet.spend(await wallet.makeSpend(toShop))
  isHanging = true
  const spendTargets = [{ publicAddress: 'shop', nativeAmount: nativeAmount('7') }]
  const spending = wallet.spend(await wallet.makeSpend({ tokenId: null, spendTargets }))
  await waitFor(() => wallet.unfinishedSpends().some(({ stage }) => stage === 'broadcast'))
  const noting = wallet.saveTxMetadata(first.txid, { notes: 'meanwhile' })
  await home.clock.advance(2000)
  await noting
  t.is((await wallet.getTransactions()).length, 2, 'the payment is shown, too')
  t.is(wallet.unfinishedSpends().length, 1)
  goOn()
  await spending
  t.deepEqual(wallet.unfinishedSpends(), [])
  t.is(wallet.getSnapshot().openPayments.length, 2)
})

type Action = (home: SilentHome, wallet: CurrencyWallet) => Promise<unknown>

const actions: Readonly<Record<string, Action>> = {
  'a new wallet': ({ account }) => account.createCurrencyWallet('wallet:toycoin', { name: 'Late' }),
  'the state of a wallet': ({ account }, { id }) => account.changeWalletStates({ [id]: { archived: true } }),
  'the name of a wallet': (_, wallet) => wallet.rename('Late'),
  'a setting': ({ account }) => account.currencyConfig('toycoin').changeUserSettings({ server: 'late' }),
  'a new PIN': ({ account }) => account.credentials.changePIN({ pin: '1234' }),
  'what another device has changed': async home => {
    const other = await home.another()
    await other.account.dataStore.setItem('notes', 'other', 'from another device')
    await other.account.sync()
    await home.account.sync()
  }
}

for (const [name, runAction] of Object.entries(actions)) {
  test(`${name}: the caller of a write without an answer gets an error, and can close the device`, async t => {
    const home = await openHome(t)
    await home.account.dataStore.setItem('notes', 'kept', 'told as saved')
    const wallet = await home.account.createCurrencyWallet('wallet:toycoin', { name: 'First' })
    await waitFor(() => wallet.engine.getSnapshot().state === 'started')
    await home.account.sync()
    home.disk.silence('write')
    t.is(detailsOf(await endOf(home, runAction(home, wallet))).what, 'write')
    const { account } = await reopen(t, home, { comesBack: true })
    t.is(await noteOf(account, 'kept'), 'told as saved')
    t.is(account.listWallets().filter(({ walletId }) => walletId === wallet.id).length, 1)
    t.true(account.listWallets().length <= 2)
    await account.sync()
    t.is(await noteOf(account, 'other'), name.startsWith('what another') ? 'from another device' : undefined)
  })
}

test('a device whose disk does not answer reads fails at its start, and starts when the disk answers again', async t => {
  const home = await openHome(t)
  await home.account.dataStore.setItem('notes', 'kept', 'told as saved')
  await home.kernel.close()
  const disk = makeSilentDisk(home.files)
  disk.silence('read')
  const opening = home.another({ device: { storage: storageOf(disk) } })
  t.is(detailsOf(await endOf({ ...home, disk }, opening)).what, 'read')
  t.true(disk.isClosed)
  disk.answer()
  const { account } = await home.another({ device: { storage: storageOf(disk) } })
  t.is(await noteOf(account, 'kept'), 'told as saved')
})

test('a login whose files are not read fails, and succeeds when the disk answers again', async t => {
  const home = await openHome(t)
  await home.account.dataStore.setItem('notes', 'kept', 'told as saved')
  await home.account.logout()
  home.disk.silence('read')
  const logIn = () => home.kernel.context.loginWithPassword('tess', 'Correct horse 1')
  // It reads twice, and each time waits for an answer.
  t.is(detailsOf(await endOf(home, logIn(), 180_000)).what, 'read')
  home.disk.answer()
  t.is(await noteOf(await logIn(), 'kept'), 'told as saved')
})

/** How many writes a payment makes before its bytes may leave. */
const NOTES_BEFORE = 2

const toShop = { tokenId: null, spendTargets: [{ publicAddress: 'shop', nativeAmount: nativeAmount('5') }] }
