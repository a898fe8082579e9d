import test from 'ava'
import { feeAt, feeTemplateOf, readFee } from '../../../../devtools/react/parts/fee-fields.tsx'
import { sampleView } from '../sample-client.ts'

const RATE = [{ key: 'satPerByte', displayName: 'Fee rate', unit: 'sat/vB' }]
const TWO = [
  { key: 'gasPrice', displayName: 'Gas price', unit: 'gwei' },
  { key: 'gasLimit', displayName: 'Gas limit', unit: 'gas' }
]

test('a fee at a level is that level, whatever was typed before', t => {
  t.deepEqual(readFee(feeAt('high'), RATE), { fee: 'high' })
  t.deepEqual(readFee({ level: 'low', numbers: { satPerByte: 'x' } }, []), { fee: 'low' })
})

test('a custom fee has each number of the currency, without the spaces around it, and nothing else', t => {
  const numbers = { satPerByte: ' 12.5 ', gasPrice: '3', gasLimit: '21000' }
  t.deepEqual(readFee({ level: 'custom', numbers }, RATE), { customFee: { satPerByte: '12.5' } })
  t.deepEqual(readFee({ level: 'custom', numbers }, TWO), {
    customFee: { gasPrice: '3', gasLimit: '21000' }
  })
})

for (const text of ['', ' ', '0', '0.000', '-1', '1,5', '1e3', '.5', '5.', '١٢', '1 2', '9'.repeat(31)])
  test(`“${text}” is no number of a fee`, t => {
    t.is(readFee({ level: 'custom', numbers: { satPerByte: text } }, RATE), undefined)
  })

test('a custom fee is none while one of its numbers is missing, or the currency takes levels only', t => {
  t.is(readFee({ level: 'custom', numbers: { gasPrice: '3' } }, TWO), undefined)
  t.is(readFee({ level: 'custom', numbers: { satPerByte: '3' } }, []), undefined)
})

test('the numbers of a fee are those of the currency of the wallet', t => {
  const [bitcoin, token] = ['bitcoin', 'faketoken'].map(
    pluginId => [...sampleView.wallets.values()].find(wallet => wallet.pluginId === pluginId)?.walletId ?? ''
  )
  t.deepEqual(feeTemplateOf(sampleView, bitcoin ?? ''), RATE)
  t.deepEqual(feeTemplateOf(sampleView, token ?? ''), [])
  t.deepEqual(feeTemplateOf(sampleView, 'nowhere'), [])
})
