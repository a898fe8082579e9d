import test from 'ava'
import fc from 'fast-check'
import { isWalletError } from '../../../../kernel/base/errors.ts'
import { settle } from '../../../helpers/login-device.ts'
import { openSettings, type SettingsDevice, tokenOf } from '../../../helpers/settings-device.ts'
import { makeSyncStore } from '../../../helpers/sync-store.ts'

const TOKENS = ['aa', 'bb', 'cc']
const PLUGINS = ['ether', 'other'] as const
const IDS = ['a', 'b']

const currencies = PLUGINS.map(pluginId => ({
  pluginId,
  tokens: () => Object.fromEntries(TOKENS.map(id => [id, tokenOf(`built ${id}`, `0x${id}`)])),
  getTokenId: async ({ networkLocation }: { networkLocation?: { contractAddress?: unknown } }) =>
    String(networkLocation?.contractAddress).slice(2)
}))

interface Step {
  readonly on: 0 | 1
  /** Whether the device syncs while it edits, before, or not at all. */
  readonly sync: 'meanwhile' | 'before' | 'no'
  readonly what: 'token' | 'no token' | 'setting' | 'swap' | 'always' | 'item' | 'no item'
  readonly plugin: (typeof PLUGINS)[number]
  readonly id: string
  readonly token: string
}

/** One edit: the field that it is of, and the field's value afterwards. */
type Edit = readonly [field: string, value: unknown]

const edit = async (
  device: SettingsDevice,
  { what, plugin, id, token }: Step,
  version: number
): Promise<Edit> => {
  const { settings, dataStore } = device
  const config = settings.currencyConfig(plugin)
  const isOn = version % 2 === 0
  const data = `${version}`
  switch (what) {
    case 'token':
      await config.addCustomToken(tokenOf(data, `0x${token}`))
      return [`token ${plugin} ${token}`, data]
    case 'no token':
      await config.removeCustomToken(token)
      return [`token ${plugin} ${token}`, undefined]
    case 'setting':
      await config.changeUserSettings({ ...config.getSnapshot().userSettings, [id]: version })
      return [`setting ${plugin} ${id}`, version]
    case 'swap':
      await settings.swapConfig('shop').changeEnabled(isOn)
      return ['swap', isOn]
    case 'always': {
      const others = config.getSnapshot().alwaysEnabledTokenIds.filter(known => known !== token)
      await config.changeAlwaysEnabledTokenIds(isOn ? [...others, token] : others)
      return [`always ${plugin} ${token}`, isOn]
    }
    case 'item':
      await dataStore.setItem(plugin, id, data)
      return [`item ${plugin} ${id}`, data]
    case 'no item':
      await dataStore.deleteItem(plugin, id)
      return [`item ${plugin} ${id}`, undefined]
  }
}

const itemOf = async ({ dataStore }: SettingsDevice, store: string, id: string): Promise<unknown> => {
  try {
    return await dataStore.getItem(store, id)
  } catch (error) {
    if (isWalletError(error, 'ITEM_NOT_FOUND')) return undefined
    throw error
  }
}

const allFields = async (device: SettingsDevice): Promise<Map<string, unknown>> => {
  const fields = new Map<string, unknown>([
    ['swap', device.settings.swapConfig('shop').getSnapshot().isEnabled]
  ])
  for (const plugin of PLUGINS) {
    const { customTokens, alwaysEnabledTokenIds, userSettings } = device.settings
      .currencyConfig(plugin)
      .getSnapshot()
    for (const token of TOKENS) {
      fields.set(`token ${plugin} ${token}`, customTokens[token]?.currencyCode)
      fields.set(`always ${plugin} ${token}`, alwaysEnabledTokenIds.includes(token))
    }
    const listed = await device.dataStore.listItemIds(plugin)
    for (const id of IDS) {
      fields.set(`setting ${plugin} ${id}`, userSettings[id])
      const item = await itemOf(device, plugin, id)
      if (listed.includes(id) !== (item !== undefined))
        throw new Error(`The list and the item ${id} disagree`)
      fields.set(`item ${plugin} ${id}`, item)
    }
  }
  return fields
}

const step: fc.Arbitrary<Step> = fc.record({
  on: fc.constantFrom<0 | 1>(0, 1),
  sync: fc.constantFrom<Step['sync']>('meanwhile', 'before', 'no', 'no'),
  what: fc.constantFrom<Step['what']>(
    'token',
    'token',
    'no token',
    'setting',
    'swap',
    'always',
    'item',
    'no item'
  ),
  plugin: fc.constantFrom(...PLUGINS),
  id: fc.constantFrom(...IDS),
  token: fc.constantFrom(...TOKENS)
})

test('any edits of tokens, settings and items on two devices converge, and no field loses an edit but to another of its own', async t => {
  let overlaps = 0
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 24 }), async steps => {
      const store = makeSyncStore()
      const devices = [
        await openSettings(store, { currencies, swaps: ['shop'] }),
        await openSettings(store, { currencies, swaps: ['shop'] })
      ] as const
      for (const { settings } of devices)
        for (const id of PLUGINS) await settings.currencyConfig(id).builtinTokensReady()
      /** What each device edited last, by field. */
      const last = [new Map<string, unknown>(), new Map<string, unknown>()] as const
      for (const [version, next] of steps.entries()) {
        const device = devices[next.on]
        if (next.sync === 'before') await device.sync()
        const syncing = next.sync === 'meanwhile' ? device.sync() : undefined
        const [field, value] = await edit(device, next, version)
        last[next.on].set(field, value)
        await syncing
        if (last[0].has(field) && last[1].has(field)) overlaps += 1
      }
      for (let round = 0; round < 3; round += 1) for (const device of devices) await device.sync()
      await settle()
      const [one, two] = [await allFields(devices[0]), await allFields(devices[1])]
      t.deepEqual(one, two)
      for (const [field, value] of one) {
        const edits = last.filter(edited => edited.has(field)).map(edited => edited.get(field))
        if (edits.length > 0 && !edits.includes(value))
          throw new Error(`${field} is ${String(value)} and was last made ${edits.map(String).join(' and ')}`)
        if (edits.length === 0 && ![undefined, false, true].includes(value as undefined))
          throw new Error(`${field} is ${String(value)} and was never edited`)
      }
      t.deepEqual([devices[0].faults, devices[1].faults], [[], []])
    }),
    { numRuns: 60 }
  )
  t.true(overlaps > 20)
})
