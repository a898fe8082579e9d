import test from 'ava'
import { litecoinLab, replacingLab } from './lab-nodes.ts'
import { runAlways } from './story-table.ts'

runAlways(test, [litecoinLab, replacingLab])
