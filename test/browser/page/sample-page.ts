/// <reference lib="dom" />
// Runs in a browser: the panel over a kernel that stands still, in the state that the address names.

import type { Actions } from '../../../app/actions/actions.ts'
import type { DevtoolsClient } from '../../../devtools/core/client/client.ts'
import { mountPanel } from '../../../devtools/react/mount-panel.tsx'
import {
  busyEvents,
  busyView,
  coinPage,
  historyPage,
  openPayments,
  SAVINGS
} from '../../devtools/react/busy-sample.ts'
import { makeSampleClient, SAMPLE_NOW, sampleRoutes } from '../../devtools/react/sample-client.ts'

const ADDRESS = 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080'

const answers: Partial<{ readonly [K in keyof Actions]: Actions[K]['out'] }> = {
  'rates.route': sampleRoutes,
  'wallet.receive': { publicAddress: ADDRESS, uri: `bitcoin:${ADDRESS}` },
  'spend.draft': {
    draftId: 'draft-1',
    review: {
      walletId: SAVINGS,
      currencyCode: 'BTC',
      nativeAmount: '1000000',
      networkFee: '2260',
      total: '1002260',
      remaining: '0',
      targets: [{ publicAddress: ADDRESS, nativeAmount: '1000000' }],
      openPayments,
      similar: openPayments.slice(0, 1).map(({ txid }) => txid)
    }
  },
  'spend.sweep': {
    draftId: 'draft-2',
    review: {
      ...{ walletId: SAVINGS, currencyCode: 'BTC', nativeAmount: '1999104', networkFee: '896' },
      ...{ total: '-1999104', remaining: '186249104' },
      targets: [{ publicAddress: ADDRESS, nativeAmount: '1999104' }],
      sweep: {
        ...{ coinCount: 3, secondWord: 'differs', onlyHere: 1, onlyThere: 2 },
        left: [
          { reason: 'incoming', nativeAmount: '3000000' },
          { reason: 'costly', nativeAmount: '546' }
        ]
      }
    }
  },
  'coin.list': coinPage,
  'tx.list': historyPage,
  'spend.discard': {}
}

const full = { view: busyView, events: busyEvents, answers }
const local = new Map([
  ...busyView.accounts,
  ...[...busyView.accounts]
    .slice(0, 1)
    .map(([id, account]) => [id, { ...account, isDeviceOnly: true }] as const)
])
const backups: DevtoolsClient['backups'] = {
  make: async () => 'sealed',
  restore: async () => ({ username: 'ada' })
}
const states: Readonly<Record<string, DevtoolsClient>> = {
  local: { ...makeSampleClient({ ...full, view: { ...busyView, accounts: local } }), backups },
  elsewhere: makeSampleClient({
    ...full,
    view: { ...busyView, accounts: local },
    status: { hasLoginServer: false }
  }),
  full: makeSampleClient(full),
  empty: makeSampleClient({}),
  lost: makeSampleClient({
    ...full,
    status: { connection: 'lost', message: 'The kernel has ended, and its port is closed.', missed: 12 }
  }),
  readOnly: makeSampleClient({ ...full, status: { isReadOnly: true } })
}

const state = new URLSearchParams(document.location.search).get('state') ?? ''
const client = states[state]
if (client === undefined) throw new Error(`There is no state “${state}”`)
document.documentElement.lang = 'en'
document.body.style.margin = '0'
const place = document.body.appendChild(document.createElement('div'))
place.style.blockSize = '100vh'
mountPanel(place, { client, ownsPage: true, now: () => SAMPLE_NOW })
