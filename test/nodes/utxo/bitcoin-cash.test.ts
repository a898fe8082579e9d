import test from 'ava'
import { bitcoinCashLab } from './lab-nodes.ts'
import { runAlways } from './story-table.ts'

runAlways(test, [bitcoinCashLab])
