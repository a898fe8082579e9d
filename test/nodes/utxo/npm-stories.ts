import {
  followsReorganisations,
  forgetsIncoming,
  restartsOffline,
  sendsAgain,
  waitsForCoinbase
} from './chain-stories.ts'
import type { LabCoin } from './lab-nodes.ts'
import {
  cannotPayTwice,
  carriesMemos,
  followsRival,
  hastens,
  paysMany,
  receivesAndPays,
  sweeps
} from './payment-stories.ts'
import { runStory, type Story } from './story-steps.ts'

/** Runs what a node from npm can judge. It has no wallet of Core's, so no wallet of ours asks it itself. */
export const runNpmStories = (test: Parameters<typeof runStory>[0], coin: LabCoin): void => {
  for (const backend of ['electrum', 'esplora'] as const) {
    runStory(test, receivesAndPays, { coin, backend })
    runStory(test, followsReorganisations, { coin, backend })
  }
  for (const story of STORIES) runStory(test, story, { coin })
}

/** Those that need no wallet of the node. */
export const STORIES: readonly Story[] = [
  ...[paysMany, cannotPayTwice, followsRival, carriesMemos, sweeps, hastens],
  ...[waitsForCoinbase, sendsAgain, forgetsIncoming, restartsOffline]
]
