import type { CommandSpec } from '../session/command.ts'

/** Plugins besides those that ship. */
export const pluginCommands: readonly CommandSpec[] = [
  {
    name: 'plugins list',
    readsOnly: true,
    summary: 'list the plugins of the profile, and why those that failed did',
    flags: [
      {
        flags: '--kind <kind>',
        summary: 'only this kind',
        choices: ['currency', 'rates', 'swap', 'storage', 'policy', 'observer']
      }
    ],
    aliases: ['ls'],
    load: async () => (await import('./plugins/list-plugins.ts')).pluginsList
  },
  {
    name: 'plugins show',
    readsOnly: true,
    arguments: '<id>',
    summary: 'show one plugin: where it is from, what it may do, what is wrong with it',
    load: async () => (await import('./plugins/list-plugins.ts')).pluginsShow
  },
  {
    name: 'plugins add',
    arguments: '<source>',
    summary: 'add a plugin: a file, the folder of a package, an archive (.tgz), or a package of the registry',
    example: 'plugins add ./my-rates.ts --no-cell',
    flags: [
      {
        flags: '--no-cell',
        summary: "run it in the wallet's own process, with all that this may do: for code of your own"
      },
      {
        flags: '--option <key=value>',
        summary: 'an option of the plugin, in place of those that it has; JSON is read as such',
        isRepeatable: true
      },
      {
        flags: '--options-file <file>',
        summary: 'a JSON file with options that are secret, which only their names are shown of'
      }
    ],
    runsAlone: true,
    load: async () => (await import('./plugins/manage-plugins.ts')).pluginsAdd
  },
  {
    name: 'plugins new',
    arguments: '[name]',
    summary:
      'make the project of a new plugin in a folder of its name: code that works, its test and its types',
    example: 'plugins new my-rates --kind rates',
    flags: [
      {
        flags: '--kind <kind>',
        summary: 'what it provides',
        choices: ['currency', 'swap', 'rates', 'storage', 'policy', 'observer']
      },
      {
        flags: '--template <template>',
        summary: 'where a kind has two: account or utxo of currency, exchange or onchain of swap'
      },
      { flags: '--overwrite', summary: 'replace files of a folder that is not empty; its other files stay' }
    ],
    runsAlone: true,
    load: async () => (await import('./plugins/new-plugin.ts')).pluginsNew
  },
  {
    name: 'plugins remove',
    arguments: '<id>',
    summary: 'remove a plugin that was added; what its wallets hold stays on the chain',
    aliases: ['rm'],
    runsAlone: true,
    load: async () => (await import('./plugins/manage-plugins.ts')).pluginsRemove
  },
  {
    name: 'plugins enable',
    arguments: '<id>',
    summary: 'use a plugin again',
    runsAlone: true,
    load: async () => (await import('./plugins/manage-plugins.ts')).pluginsEnable
  },
  {
    name: 'plugins disable',
    arguments: '<id>',
    summary: 'keep a plugin, and do not use it',
    runsAlone: true,
    load: async () => (await import('./plugins/manage-plugins.ts')).pluginsDisable
  },
  {
    name: 'plugins allow',
    summary:
      'allow the plugins in the holdfast.config of the profile, or of the folder of -C, as they are now',
    example: 'plugins allow -C .',
    runsAlone: true,
    load: async () => (await import('./plugins/manage-plugins.ts')).pluginsAllow
  },
  {
    name: 'plugins test',
    arguments: '[project]',
    summary: 'run the conformance suite of a plugin, and its other tests, from its folder or test file',
    example: 'plugins test ./my-rates --level quick',
    flags: [
      {
        flags: '--level <level>',
        summary: 'how much is checked; default: full',
        choices: ['quick', 'full', 'live']
      },
      { flags: '--only <text>', summary: 'only what has this text in its title', isRepeatable: true },
      {
        flags: '--format <format>',
        summary: 'how the report is written; default: text',
        choices: ['text', 'tap', 'junit', 'json']
      },
      { flags: '--list', summary: 'list the checks with their reasons, and run none' }
    ],
    readsOnly: true,
    runsAlone: true,
    load: async () => (await import('./plugins/test-plugin.ts')).pluginsTest
  },
  {
    name: 'plugins dev',
    arguments: '[project]',
    summary: 'load a plugin into a fake world, again after each change, and check it each time',
    example: 'plugins dev ./my-rates',
    isServer: true,
    runsAlone: true,
    load: async () => (await import('./plugins/dev-plugin.ts')).pluginsDev
  }
]
