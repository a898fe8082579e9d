import test from 'ava'
import {
  parseTransactionFile,
  transactionFileJson,
  withMetadata
} from '../../../../kernel/wallet/history/file-format.ts'

const FILE = { txid: 'a', internal: true, creationDate: 1.5, currencies: {}, tokens: {} }

test('a fiat amount that is no number is left out, and the others stay', t => {
  const exchangeAmount = { 'iso:USD': 1.5, 'iso:EUR': '1e-7', 'iso:CHF': null, 'iso:GBP': 0 }
  const file = parseTransactionFile({ ...FILE, tokens: { '': { metadata: { exchangeAmount } } } })
  t.deepEqual(file.tokens.get('')?.metadata.exchangeAmount, { 'iso:USD': 1.5, 'iso:GBP': 0 })
})

test('what a newer version says of an asset is written back', t => {
  const asset = { metadata: { name: 'x' }, nativeAmount: '5', confirmedBy: { peer: [1] } }
  const file = parseTransactionFile({ ...FILE, tokens: { t: asset } })
  t.deepEqual(transactionFileJson(file).tokens, { t: asset })
  const edited = withMetadata(file, { tokenId: 't', currencyCode: 'T' }, () => ({ name: 'y' }))
  t.deepEqual(transactionFileJson(edited).tokens, { t: { ...asset, metadata: { name: 'y' } } })
})

test('an edit goes on from the newer map of assets where both say something', t => {
  const old = { metadata: { name: 'old', notes: 'old' }, nativeAmount: '1' }
  const next = { metadata: { name: 'new' }, nativeAmount: '2' }
  const file = parseTransactionFile({ ...FILE, currencies: { TOY: old }, tokens: { '': next } })
  const edited = withMetadata(file, { tokenId: null, currencyCode: 'TOY' }, metadata => ({
    ...metadata,
    category: 'c'
  }))
  t.deepEqual(transactionFileJson(edited), {
    ...FILE,
    tokens: { '': { metadata: { name: 'new', category: 'c' }, nativeAmount: '2' } }
  } as never)
})
