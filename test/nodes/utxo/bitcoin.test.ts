import test from 'ava'
import { bitcoinLab } from './lab-nodes.ts'
import { runAlways } from './story-table.ts'

runAlways(test, [bitcoinLab])
