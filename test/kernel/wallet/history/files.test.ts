import test from 'ava'
import {
  parseTransactionFile,
  type TransactionFile,
  transactionFileJson
} from '../../../../kernel/wallet/history/file-format.ts'
import { type FoundFile, mergeFiles } from '../../../../kernel/wallet/history/files.ts'

const fileOf = (fields: object): TransactionFile =>
  parseTransactionFile({ txid: 'a', internal: false, creationDate: 1, currencies: {}, ...fields })

const found = (date: number, file: TransactionFile): FoundFile => ({ date, isLegacy: false, file })

test('of two files the older wins field by field, and what it does not say comes from the other', t => {
  const older = fileOf({
    creationDate: 5,
    tokens: {
      '': { metadata: { name: 'Old', exchangeAmount: { 'iso:EUR': 1 } }, nativeAmount: '5', mine: 1 },
      only: { metadata: {}, nativeAmount: '7' }
    },
    deviceDescription: 'old phone',
    theirs: 'old'
  })
  const newer = fileOf({
    creationDate: 9,
    currencies: {
      TOY: {
        metadata: { name: 'New', notes: 'n', exchangeAmount: { 'iso:EUR': 2, 'iso:USD': 3 } },
        nativeAmount: '6',
        providerFeeSent: '8'
      }
    },
    tokens: { other: { metadata: { name: 'Token' }, nativeAmount: '1' } },
    deviceDescription: 'new phone',
    secret: 'of the new one',
    theirs: 'new',
    more: [1]
  })
  const expected = {
    txid: 'a',
    internal: false,
    creationDate: 5,
    currencies: {},
    tokens: {
      '': {
        metadata: { name: 'Old', notes: 'n', exchangeAmount: { 'iso:EUR': 1, 'iso:USD': 3 } },
        nativeAmount: '5',
        providerFeeSent: '8',
        mine: 1
      },
      only: { metadata: {}, nativeAmount: '7' },
      other: { metadata: { name: 'Token' }, nativeAmount: '1' }
    },
    deviceDescription: 'old phone',
    secret: 'of the new one',
    theirs: 'old',
    more: [1]
  }
  for (const files of [
    [found(5, older), found(9, newer)],
    [found(9, newer), found(5, older)]
  ]) {
    const merged = mergeFiles(files, 'TOY')
    t.deepEqual(merged && transactionFileJson(merged), expected as never)
  }
  t.is(mergeFiles([], 'TOY'), undefined)
})
