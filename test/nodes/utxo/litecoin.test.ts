import test from 'ava'
import {
  findsThousand,
  followsReorganisations,
  forgetsIncoming,
  restartsAfterReorganisation,
  restartsOffline,
  seesWaiting,
  sendsAgain,
  sendsAgainFromDeep,
  waitsForCoinbase
} from './chain-stories.ts'
import { replacingLab } from './lab-nodes.ts'
import {
  cannotPayTwice,
  followsRival,
  freezesCoins,
  hastens,
  paysMany,
  receivesAndPays,
  replacesOrCancels,
  signsMessages,
  sweeps
} from './payment-stories.ts'
import { runStory } from './story-steps.ts'

/** A wallet of BIP-49 has the addresses of BIP-84, too. */
const KINDS = [
  ['bip44', 'electrum'],
  ['bip49', 'electrum'],
  ['bip84', 'electrum'],
  ['bip49', 'rpc'],
  ['bip84', 'esplora']
] as const

for (const [format, backend] of KINDS) runStory(test, receivesAndPays, { format, backend })
for (const story of [
  signsMessages,
  paysMany,
  cannotPayTwice,
  waitsForCoinbase,
  sweeps,
  freezesCoins,
  hastens
])
  runStory(test, story)
for (const backend of ['electrum', 'rpc'] as const) {
  runStory(test, followsRival, { backend })
  runStory(test, sendsAgain, { backend })
  runStory(test, sendsAgainFromDeep, { backend })
  runStory(test, forgetsIncoming, { backend })
  runStory(test, seesWaiting, { backend })
}
runStory(test, sweeps, { backend: 'rpc' })
for (const backend of ['electrum', 'rpc', 'esplora'] as const)
  runStory(test, followsReorganisations, { backend })
for (const backend of ['electrum', 'rpc'] as const) runStory(test, restartsOffline, { backend })
runStory(test, restartsAfterReorganisation, { backend: 'rpc' })
runStory(test, findsThousand)
runStory(test, replacesOrCancels, { coin: replacingLab })
