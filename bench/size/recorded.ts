/**
 * What the peer was measured to need, in milliseconds of CPU, by work, step and size (reliability 1.3): edge-core-js
 * 1.14.0 on two cores with Node 20.20.2. Infinity: it was stopped unfinished after 400 s.
 *
 * Sizes that the published core does not finish in time are compared with these.
 */
export const RECORDED: ReadonlyMap<string, ReadonlyMap<number, number>> = new Map([
  [
    'startup usable',
    new Map([
      [25, 400],
      [50, 1213],
      [100, 4519],
      [200, 28_339],
      [500, Number.POSITIVE_INFINITY]
    ])
  ],
  ['discover durable', new Map([[10_000, 21_500]])],
  [
    'first-view view',
    new Map([
      [10_000, 1500],
      [50_000, 6860],
      [100_000, 16_000]
    ])
  ],
  [
    'list page',
    new Map([
      [10_000, 48],
      [50_000, 45]
    ])
  ],
  [
    'list all',
    new Map([
      [10_000, 3050],
      [50_000, 75_000]
    ])
  ],
  [
    'search cold',
    new Map([
      [10_000, 3410],
      [50_000, 132_000]
    ])
  ],
  [
    'search warm',
    new Map([
      [10_000, 3410],
      [50_000, 132_000]
    ])
  ],
  [
    'search one',
    new Map([
      [10_000, 3900],
      [50_000, 159_000]
    ])
  ],
  [
    'search first',
    new Map([
      [10_000, 18],
      [50_000, 8000]
    ])
  ],
  [
    'change edit',
    new Map([
      [10_000, 20],
      [50_000, 105]
    ])
  ],
  [
    'change arrive',
    new Map([
      [10_000, 50],
      [50_000, 283]
    ])
  ],
  [
    'new-device fetched',
    new Map([
      [10_000, 1460],
      [50_000, 7760]
    ])
  ],
  ['upload uploaded', new Map([[10_000, 10_300]])]
])
