import test from 'ava'
import { rateText } from '../../../app/format/routes.ts'
import { ageText, durationText } from '../../../app/format/times.ts'

test('rates are never written in powers of ten', t => {
  t.deepEqual([0, 97_013.2, 0.92165, 0.000_000_012_345_678, 1e21].map(rateText), [
    '0',
    '97013.2',
    '0.92165',
    '0.00000001234568',
    '1000000000000000000000'
  ])
})

test('spans are shown in their largest unit of which there are two', t => {
  t.deepEqual([-3, 0, 119, 120, 7199, 7200, 172_799, 200_000].map(ageText), [
    ...['0 s', '0 s', '119 s', '2 min', '119 min', '2 h', '47 h', '2 days']
  ])
  t.deepEqual([0.04, 3.46, 9.96, 412.3, 2140, 20_400].map(durationText), [
    ...['0 ms', '3.5 ms', '10 ms', '412 ms', '2.1 s', '20 s']
  ])
})
