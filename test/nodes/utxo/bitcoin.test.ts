import test from 'ava'
import { bitcoinLab } from './lab-nodes.ts'
import { runNpmStories } from './npm-stories.ts'
import { receivesAndPays } from './payment-stories.ts'
import { runStory } from './story-steps.ts'

runNpmStories(test, bitcoinLab)
for (const format of ['bip44', 'bip49'] as const)
  runStory(test, receivesAndPays, { coin: bitcoinLab, format })
