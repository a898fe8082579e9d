import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** One recipe of the page: a file of `examples/cookbook`, its heading, and how it is used. */
interface Recipe {
  readonly file: string
  readonly heading: string
  readonly use: string
}

const PROGRAM =
  'It takes functions, so a program gives it to `createKernel`, or a `holdfast.config.ts` makes it:'
const KERNEL_ONLY = 'It takes functions, so a program gives it to `createKernel`'
const ADDED = (file: string): string =>
  `Copy the file and add it: \`holdfast plugins add ${file}.ts\`. It runs in a cell.`

const RECIPES: readonly Recipe[] = [
  {
    file: 'own-prices',
    heading: 'Prices of your own',
    use:
      'A rate source that reads prices from a list in CSV, also those of past days: for books that go by fixed prices, and for a coin ' +
      "that no exchange lists. Its list comes in `pluginOptions: { ownprices: { csv: readFileSync('prices.csv', 'utf8') } }`."
  },
  {
    file: 'median-price',
    heading: 'The middle of three prices',
    use: `A rate source that one lying or broken server cannot move. ${ADDED('median-price')}`
  },
  {
    file: 'market-maker',
    heading: 'A market maker with fixed prices',
    use:
      'A swap provider for a server that quotes, takes orders and says how far they are. Replace the server, its fields and its ' +
      `states by those of your maker. ${ADDED('market-maker')}`
  },
  {
    file: 'trusted-first',
    heading: 'Exchanges that you trust first',
    use:
      'A policy that puts quotes of some exchanges before others that pay a little more. It needs `rankQuotes`, which a cell does ' +
      'not have: `holdfast plugins add trusted-first.ts --no-cell`.'
  },
  {
    file: 'fee-guard',
    heading: 'No payment for more fee than worth',
    use: `A policy that refuses payments whose fee is out of proportion, whoever asks for them. ${ADDED('fee-guard')}`
  },
  {
    file: 'payments-a-day',
    heading: 'A few payments a day',
    use:
      'A policy that brings a new kind of rule for accounts: it counts payments, whatever they are worth. ' +
      "An account gets such a rule with `account.policies.add({ id: 'few', kind: 'payments-a-day', most: 5 })`."
  },
  {
    file: 'payment-journal',
    heading: 'A journal of payments',
    use: `An observer that writes a CSV line for each step of each payment. ${PROGRAM} \`paymentJournal(line => appendFileSync('payments.csv', line), () => new Date())\`.`
  },
  {
    file: 'slow-taps',
    heading: 'Which plugin is slow',
    use: `An observer that measures each call into each plugin. ${PROGRAM} \`slowTaps(line => console.warn(line)).plugin\`; \`times()\` gives the figures.`
  },
  {
    file: 'two-disks',
    heading: 'Everything on two disks',
    use: `A storage plugin over two others. ${KERNEL_ONLY}; the command line keeps its files itself: \`twoDiskStorage(async () => [await openFileDisk('/data/wallet'), await openFileDisk('/mnt/stick/wallet')])\`.`
  },
  {
    file: 'own-units',
    heading: 'Units and tokens of your own',
    use: `A currency made from another one, which shows other units and knows more tokens. ${KERNEL_ONLY}, in place of the other one: \`withOwnUnits(bitcoin, { units: [{ name: 'bits', multiplier: '100' }] })\`.`
  }
]

/** The cookbook as a page of Markdown: each recipe of `examples/cookbook` in full. */
export const cookbookPage = (root: string): string =>
  `${[
    '# Cookbook',
    '',
    'Generated from `examples/cookbook` by `npm run docs`. Do not edit.',
    '',
    `${RECIPES.length} plugins of less than 100 lines, to use as they are or to change. Each is a file of the package, in`,
    '`examples/cookbook`, and each passes the suite of its kind (`test/testing/cookbook.test.ts` of the repository).',
    '[write-a-plugin.md](write-a-plugin.md) explains the kinds, [hooks.md](hooks.md) each hook.',
    '',
    ...RECIPES.map(({ heading }) => `- [${heading}](#${anchorOf(heading)})`),
    ...RECIPES.flatMap(({ file, heading, use }) => {
      const path = `examples/cookbook/${file}.ts`
      const code = readFileSync(join(root, path), 'utf8')
      return ['', `## ${heading}`, '', use, '', `\`\`\`ts file=${path}`, code.trimEnd(), '```']
    })
  ].join('\n')}\n`

const anchorOf = (heading: string): string => heading.toLowerCase().replaceAll(' ', '-')
