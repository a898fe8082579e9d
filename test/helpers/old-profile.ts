import { readFileSync } from 'node:fs'
import { makeFakeWorld } from '../../fake-server/fake-world.ts'
import type { Plugin } from '../../kernel/index.ts'
import { makeNodeIo } from '../../platform/node/index.ts'
import { openDevice } from './device.ts'
import { quickCrypto } from './quick-crypto.ts'
import { makeToy } from './toy-currency.ts'

/** An account as version 0.1 kept it, and what it showed of its wallet. */
export interface OldProfile {
  readonly username: string
  readonly password: string
  /** By path: as they lay in the database of a page, or in a Keyv store. */
  readonly texts: Readonly<Record<string, string>>
  /** The history of its wallet, newest first. */
  readonly transactions: readonly { readonly txid: string; readonly notes?: string }[]
}

/**
 * The accounts that version 0.1 wrote (at commit 9442c21e, the last one before stores of bytes): `page` in an IndexedDB database of
 * Chromium, `keyv` in a Keyv store. Each has a toy wallet, whose transactions came at once but for the last, six notes, and a text
 * of an application.
 */
export const oldProfiles = JSON.parse(readFileSync('test/fixtures/old-profiles.json', 'utf8')) as Readonly<
  Record<'keyv' | 'page', OldProfile>
>

/** What is shown of an old profile. */
export interface ShownProfile extends Pick<OldProfile, 'transactions'> {
  readonly walletName: string
  readonly text: string
  /** The txids that a search finds in the notes. */
  readonly found: readonly string[]
  /** What was reported of damage or of the storage. */
  readonly errors: readonly string[]
}

/** What should be shown of it. */
export const wantedOf = ({ transactions }: OldProfile): ShownProfile => ({
  ...{ transactions, walletName: 'Savings', text: 'Paid the rent', errors: [] },
  found: transactions.filter(({ notes }) => notes !== undefined).map(({ txid }) => txid)
})

/** Logs in without a network, with a storage that has an old profile. */
export const readOldProfile = async (
  { username, password }: OldProfile,
  storage: Plugin
): Promise<ShownProfile> => {
  const errors: string[] = []
  const world = makeFakeWorld({ io: makeNodeIo() })
  world.setOnline(false)
  const kernel = await openDevice(world, {
    ...{ io: world.ioFor({ ...makeNodeIo(), crypto: quickCrypto }), storage, plugins: [makeToy().plugin] },
    onError: (source, error) => void errors.push(`${source}: ${error}`)
  })
  try {
    const account = await kernel.context.loginWithPassword(username, password)
    const [walletId = ''] = account.getSnapshot().activeWalletIds
    const wallet = await account.openWallet(walletId)
    const shown = await wallet.getTransactions({})
    return {
      transactions: shown.map(({ txid, metadata: { notes } }) =>
        notes === undefined ? { txid } : { txid, notes }
      ),
      walletName: wallet.name ?? '',
      text: await account.dataStore.getItem('notes', 'first'),
      found: (await wallet.getTransactions({ searchString: 'Bicycle' })).map(({ txid }) => txid),
      errors: errors.filter(error => /CORRUPT|STORAGE/.test(error))
    }
  } finally {
    await kernel.close()
    await world.close()
  }
}
