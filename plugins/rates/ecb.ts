import { parseXml, XmlElement } from '@rgrove/parse-xml'
import { badReply, type RatePlugin, Reply } from '../../kernel/plugin-api.ts'
import { fiatCode, type PricedPair, ratePlugin } from './kit/rate-source.ts'

/**
 * The reference rates of the European Central Bank: the euro in some thirty moneys, one figure a working day.
 *
 * They change once a day, so they are asked for twice an hour.
 */
export const ecb: RatePlugin = ratePlugin({
  id: 'ecb',
  displayName: 'European Central Bank',
  bias: -0.08,
  origins: ['https://www.ecb.europa.eu'],
  gapSeconds: 1800,
  requestFor: ({ fiats }) =>
    fiats.size === 0 ? undefined : { path: '/stats/eurofxref/eurofxref-daily.xml', parse: parseEcb }
})

/** Reads `<Cube><Cube time="…"><Cube currency="USD" rate="1.08"/>…`, the first day of it; pure. @throws BAD_REPLY */
export const parseEcb = (text: string): readonly PricedPair[] => {
  const day = findDay(rootOf(text), 0)
  if (day === undefined) throw badReply(SOURCE, 'Cube', 'has no day')
  const pairs: PricedPair[] = []
  for (const { attributes } of cubesOf(day)) {
    const { currency, rate } = attributes
    if (/^[A-Z]{3}$/.test(currency ?? ''))
      pairs.push([fiatCode('EUR'), fiatCode(`${currency}`), new Reply(rate, SOURCE).number()])
  }
  return pairs
}

const SOURCE = 'reply of European Central Bank'
/** The envelope, the cube of cubes and the cube of a day. */
const MAX_DEPTH = 4

/** A day is 2 kB; what is far longer is not parsed. */
const MAX_LENGTH = 500_000

const rootOf = (text: string): XmlElement => {
  if (text.length > MAX_LENGTH) throw badReply(SOURCE, '', 'is too long')
  try {
    const { root } = parseXml(text)
    if (root !== null) return root
  } catch {
    // What it says of the place may repeat the text.
  }
  throw badReply(SOURCE, '', 'is no XML')
}

const cubesOf = ({ children }: XmlElement): readonly XmlElement[] =>
  children.filter((child): child is XmlElement => child instanceof XmlElement && child.name === 'Cube')

const findDay = (element: XmlElement, depth: number): XmlElement | undefined => {
  if (element.attributes.time !== undefined) return element
  if (depth === MAX_DEPTH) return undefined
  for (const cube of cubesOf(element)) {
    const day = findDay(cube, depth + 1)
    if (day !== undefined) return day
  }
  return undefined
}
