import test from 'ava'
import { readServed } from '../../../devtools/standalone/profile-plugins.ts'

const CONFIG = { path: '/home/me/holdfast.config.ts', hasPolicy: true, code: '', problem: 'it has changed' }
const PLUGIN = {
  ...{ id: 'corner', kind: 'rates', hosts: [], seesKeys: false, sha512: '', isContained: true },
  ...{ options: {}, code: '', problem: '' }
}
const SERVED = {
  plugins: [PLUGIN],
  configs: [CONFIG],
  guards: [{ source: 'plugins.json', problem: 'damaged' }]
}

test('the plugins of a profile are read as they are served', t => {
  t.deepEqual(readServed(JSON.stringify(SERVED)), SERVED)
})

for (const [about, served] of [
  ['without a word about the policies of a config', { configs: [{ ...CONFIG, hasPolicy: undefined }] }],
  ['with a text for whether a config has policies', { configs: [{ ...CONFIG, hasPolicy: 'false' }] }],
  ['with nothing in place of what may have had policies', { guards: [null] }],
  ['with no list of what may have had policies', { guards: undefined }],
  ['with a text for whether a plugin is contained', { plugins: [{ ...PLUGIN, isContained: 'true' }] }]
] as const)
  test(`a list ${about} is refused as a whole, so that no policy is missing from it`, t => {
    t.throws(() => readServed(JSON.stringify({ ...SERVED, ...served })), {
      message: 'The development server gives no list of plugins'
    })
  })
