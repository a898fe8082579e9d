import { type Account, isWalletError } from '../../kernel/index.ts'
import type { CredentialWorld } from './credential-world.ts'
import { type CutDevice, type CutStart, makeCutDevice, openCutPlace } from './cut-device.ts'
import type { Fact, PromiseBook } from './cut-facts.ts'
import type { CutHome, CutStory } from './cut-stories.ts'
import { passWalletError } from './drawn-runs.ts'
import type { Fault } from './fault-disk.ts'

/** What many cases came to. */
export interface CutTally {
  /** Write points of the stories, faults left out. */
  points: number
  cases: number
  fired: number
  /** Cases with a second cut while the first was being repaired. */
  recoveries: number
  /** Values that were compared with what had been promised. */
  looks: number
  readonly losses: string[]
}

/** An empty tally. */
export const makeCutTally = (): CutTally => ({
  points: 0,
  cases: 0,
  fired: 0,
  recoveries: 0,
  looks: 0,
  losses: []
})

/** One line of a log. */
export const describeCuts = ({ points, cases, fired, recoveries, looks, losses }: CutTally): string =>
  `${points} writes, ${cases} cases, ${fired} faults fired, ${recoveries} cut again while starting; ` +
  `${looks} values looked at, ${losses.length} losses`

/** Every way in which a write may go wrong. */
const CUT_FAULTS: readonly Omit<Fault, 'at'>[] = [
  { kind: 'lost' },
  { kind: 'torn', share: 0 },
  { kind: 'torn', share: 0.1 },
  { kind: 'torn', share: 0.5 },
  { kind: 'torn', share: 0.9 },
  { kind: 'torn', share: 0.999 },
  { kind: 'empty' },
  { kind: 'gone' },
  { kind: 'late' },
  { kind: 'full' }
]

/** A batch of a store is there as a whole or not at all. */
const STORE_FAULTS = CUT_FAULTS.filter(({ kind }) => kind === 'lost' || kind === 'late' || kind === 'full')

/** Which of the cases to try. */
export interface CutChoice {
  readonly choose: (faults: readonly Fault[]) => readonly Fault[]
  readonly tally: CutTally
}

/** Tries a story with the chosen ones of every fault at every write. */
export const cutStory = async (
  home: CutHome,
  story: CutStory,
  { choose, tally }: CutChoice
): Promise<void> => {
  const whole = await playStory(home, story)
  if (whole.error !== undefined) throw whole.error
  const { writeCount } = whole.device.disk
  tally.points += writeCount
  const kinds = home.start.medium === 'store' ? STORE_FAULTS : CUT_FAULTS
  const faults: Fault[] = []
  for (let at = 1; at <= writeCount; at += 1) for (const kind of kinds) faults.push({ ...kind, at })
  for (const fault of choose(faults)) await tryCase(home, story, { tally, fault })
}

const secondOf = ({ clock }: CredentialWorld): Promise<void> =>
  new Promise(resolve => void clock.after(1000, resolve))

interface Played {
  readonly device: CutDevice
  readonly book: PromiseBook
  readonly account: Account | undefined
  readonly error: unknown
}

const playStory = async (home: CutHome, story: CutStory, fault?: Fault): Promise<Played> => {
  const { start, ...rest } = home
  const place = openCutPlace(start.world)
  const book = home.book.copy()
  if (story.elsewhere !== undefined) {
    const other = makeCutDevice(place, new Map(start.files), start)
    const account = await other.until(other.logIn())
    if (account === undefined) throw new Error('The other device has no power')
    await other.until(story.elsewhere(account, { ...rest, book, pause: () => secondOf(place) }))
    await other.close()
  }
  const files = new Map(story.isNewDevice === true ? [] : start.files)
  const device = makeCutDevice(place, files, { ...start, fault })
  book.hasPower = () => !device.disk.isDown
  let account: Account | undefined
  try {
    account = await device.until(device.logIn())
    if (account !== undefined)
      await device.until(story.run(account, { ...rest, book, pause: () => secondOf(place) }))
    if (!device.disk.hasFired) await device.close()
    return { device, book, account, error: undefined }
  } catch (error) {
    return { device, book, account, error }
  }
}

interface Case {
  readonly tally: CutTally
  readonly fault: Fault
}

const tryCase = async (home: CutHome, story: CutStory, { tally, fault }: Case): Promise<void> => {
  const name = `${story.name}, write ${fault.at} ${fault.kind} ${fault.share ?? ''}`
  const { device, book, account, error } = await playStory(home, story, fault)
  const { disk } = device
  tally.cases += 1
  const lose = (what: string): void => void tally.losses.push(`${name}: ${what}`)
  if (!disk.hasFired) return lose('the fault did not fire')
  tally.fired += 1
  if (fault.kind === 'full') {
    if (error !== undefined && !isWalletError(error)) lose(`a full disk ended in ${error}`)
    if (account?.isLoggedIn === true) await goOn(account, { device, book, lose })
    await device.close()
  }
  const remains: Remains = { ...home.start, world: device.place.world.toJson(), files: device.files }
  await recover(remains, { book, tally, lose })
  if (fault.kind === 'full') return
  const second = await cutRecovery(remains, tally)
  if (second === undefined) return
  await recover(second, { book, tally, lose: what => lose(`cut again at ${second.name}: ${what}`) })
}

/** Whoever met a full disk goes on once there is room. */
const goOn = async (
  account: Account,
  { device, book, lose }: { device: CutDevice; book: PromiseBook; lose: (what: string) => void }
): Promise<void> => {
  try {
    await device.until(
      book.change(['item', 'after', 'full'], 'room', () => account.dataStore.setItem('after', 'full', 'room'))
    )
    for (const what of (await device.until(book.broken(account))) ?? []) lose(`after a full disk ${what}`)
  } catch (error) {
    lose(`a full disk is not survived: ${error}`)
  }
}

/** What a cut leaves behind. */
export type Remains = CutStart

/** What is right after a cut, and who hears if it is not. */
interface Judge {
  readonly book: PromiseBook
  readonly tally: CutTally
  readonly lose: (what: string) => void
}

/** Starts after a cut: on the device, on it once more, and on another one. */
export const recover = async (
  { world, files, loginKey, medium }: Remains,
  { book, tally, lose }: Judge
): Promise<void> => {
  const promised = book.copy()
  const place = openCutPlace(world)
  const left = new Map(files)
  const judge = async (
    device: CutDevice,
    where: string,
    use?: (account: Account) => Promise<void>
  ): Promise<void> => {
    try {
      const account = (await device.until(device.logIn())) as Account
      for (const what of (await device.until(promised.broken(account))) ?? []) lose(`${where}, ${what}`)
      if (use !== undefined) await device.until(use(account))
    } catch (error) {
      lose(`${where}, ${error}`)
    }
    await device.close()
  }
  await judge(makeCutDevice(place, left, { loginKey, medium }), 'after the cut', async account => {
    const item: Fact = ['item', 'after', 'cut']
    await promised.change(item, 'written', () => account.dataStore.setItem('after', 'cut', 'written'))
    await account.sync()
    // What another device changed is shown a moment later.
    await secondOf(place)
    promised.knowsAll()
    for (const what of await promised.broken(account)) lose(`after the sync, ${what}`)
  })
  const again = makeCutDevice(place, left, { loginKey, medium })
  await judge(again, 'at the second start')
  if (again.reports.length > 0) lose(`the second start reports ${again.reports.map(String).join(', ')}`)
  if (loginKey === undefined) await judge(makeCutDevice(place, new Map(), { medium }), 'on another device')
  tally.looks += promised.lookCount
}

/** Cuts the power a second time, while the device starts after the first cut; undefined if that writes nothing. */
const cutRecovery = async (
  remains: Remains,
  tally: CutTally
): Promise<(Remains & { readonly name: string }) | undefined> => {
  const start = async (fault?: Fault): Promise<CutDevice> => {
    const { world, files } = remains
    const device = makeCutDevice(openCutPlace(world), new Map(files), { ...remains, fault })
    const open = async (): Promise<void> => void (await (await device.logIn()).openAllWallets())
    await device.until(open()).catch(passWalletError)
    return device
  }
  const { writeCount } = (await start()).disk
  if (writeCount === 0) return undefined
  // Each write and each kind has its turn.
  const at = (tally.recoveries % writeCount) + 1
  const kind = (['lost', 'torn', 'empty', 'late'] as const)[tally.recoveries % 4] ?? 'lost'
  const device = await start({ at, kind })
  if (!device.disk.hasFired) return undefined
  tally.recoveries += 1
  return { ...remains, world: device.place.world.toJson(), files: device.files, name: `write ${at} ${kind}` }
}
