/** How many transactions the histories have that are measured: those with goals, and 1, 2, 4 and 8 times the first. */
export const HISTORIES = {
  sizes: [6250, 10_000, 12_500, 25_000, 50_000],
  growing: [6250, 12_500, 25_000, 50_000],
  comparedSizes: [10_000]
} as const

/** How many new transactions or files are measured: 1, 2, 4 and 8 times the first. */
export const NOVELTIES = {
  sizes: [1250, 2500, 5000, 10_000],
  growing: [1250, 2500, 5000, 10_000],
  comparedSizes: [2500, 10_000]
} as const

/** 10000 as `10,000`. */
export const grouped = (count: number): string => count.toLocaleString('en')

/** What every section of sizes says of its figures. */
export const SIDES_NOTE: string =
  'Each side in processes of its own, one for each round; of most sizes one round is enough to show the growth. Ours keeps everything on a real folder, the published core ' +
  'in the memory of its own fake world, whose work is counted as its.'
