import test from 'ava'
import type { EngineSnapshot } from '../../../kernel/index.ts'
import type { RepoState } from '../../../kernel/sync/repo-state.ts'
import { syncStatusOf } from '../../../kernel/wallet/sync-status.ts'

const ENGINE: EngineSnapshot = {
  walletId: 'w',
  pluginId: 'toycoin',
  state: 'started',
  isPaused: false,
  syncRatio: 1,
  blockHeight: 7,
  since: 1_700_000_000
}

const REPO: RepoState = { repoId: 'r', pendingCount: 0, lastSync: 1, isSyncing: false }

const statusOf = (engine: Partial<EngineSnapshot>, repo: Partial<RepoState> = {}) =>
  syncStatusOf({ ...ENGINE, ...engine }, { ...REPO, ...repo })

test('a sync status says which stage it is, what it waits for, what went wrong last, and since when', t => {
  t.deepEqual(statusOf({}), { ratio: 1, stage: 'synced', since: 1_700_000_000, sentence: 'Up to date.' })
  const cases: [Partial<EngineSnapshot>, string, string][] = [
    [{ state: 'created', syncRatio: 0 }, 'starting', 'Starting: waits for the currency’s plugin.'],
    [
      { syncRatio: 0.428, status: 'server 2 of 3 does not answer' },
      'looking',
      'Looks at the chain: 42 % done. It says: server 2 of 3 does not answer.'
    ],
    [
      { failure: 'Could not reach electrum (NETWORK)', errorCode: 'NETWORK' },
      'waiting',
      'Waits for the network: what is shown may be old. Could not reach electrum (NETWORK).'
    ],
    [
      { state: 'failed', failure: 'Error: no peers' },
      'failed',
      'The wallet could not start, and is tried again within half a minute. Error: no peers.'
    ],
    [{ state: 'stopped', isPaused: true }, 'paused', 'Paused: nothing is looked up until it is resumed.'],
    [{ state: 'stopped' }, 'closed', 'Closed.']
  ]
  for (const [engine, stage, sentence] of cases) t.like(statusOf(engine), { stage, sentence } as never)
  t.is(statusOf({ failure: 'x', errorCode: 'NETWORK' }).errorCode, 'NETWORK')
})

test('a sync status shows files that are not on the server yet, and the reason', t => {
  t.is(statusOf({}, { pendingCount: 1 }).sentence, 'Up to date. 1 change is on the way to the server.')
  t.like(statusOf({}, { pendingCount: 3, errorCode: 'NETWORK' }), {
    sentence: 'Up to date. The last exchange of files failed (NETWORK); 3 changes are not on the server yet.',
    errorCode: 'NETWORK'
  })
})

test('a progress has as many digits as the currency says, and is rounded down', t => {
  const sentence = (syncRatio: number, precision: number): string =>
    syncStatusOf({ ...ENGINE, syncRatio }, REPO, precision).sentence
  t.is(sentence(0.42879, 2), 'Looks at the chain: 42.87 % done.')
  t.is(sentence(0.999999, 1), 'Looks at the chain: 99.9 % done.')
  t.is(sentence(0.5, 3), 'Looks at the chain: 50.000 % done.')
})
