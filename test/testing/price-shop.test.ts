import test from 'ava'
import { testRatePlugin } from 'holdfast/testing'
import { priceShop } from '../../examples/price-shop.ts'

const replies = { 'https://shop.example.org/price': '{"usd":64000}' }
testRatePlugin(test, priceShop, {
  valid: [{ wanted: ['BTC iso:USD'], replies, offers: { 'BTC iso:USD': 64_000 } }]
})
