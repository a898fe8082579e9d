import type { CommandFlag, CommandSpec } from '../session/command.ts'
import { CONFIRM } from './flags.ts'

const SERVERS: readonly CommandFlag[] = [
  {
    flags: '--login-server <url>',
    summary: 'the API of the login server, such as https://login.edge.app/api; none: no server'
  },
  { flags: '--sync-server <url>', summary: 'a sync server; none: no server', isRepeatable: true },
  { flags: '--info-server <url>', summary: 'an info server; none: no server', isRepeatable: true },
  {
    flags: '--chain <currency=server>',
    summary:
      'a server of a currency: Electrum, such as bitcoin=tls://host:50002, after a # the SHA-256 of its certificate, if you know it; Esplora, such as bitcoin=esplora+https://host/api; or a node of your own, such as bitcoin=rpc+http://127.0.0.1:8332; bitcoin=none: no server',
    isRepeatable: true
  },
  {
    flags: '--node-cookie <server=file>',
    summary:
      'the file in which a node writes its login, such as 127.0.0.1:8332=/home/me/.bitcoin/.cookie; 127.0.0.1:8332=none: no file',
    isRepeatable: true
  },
  {
    flags: '--proxy <url>',
    summary: 'a SOCKS5 proxy for every connection, such as socks5://127.0.0.1:9050; none: no proxy'
  },
  {
    flags: '--certificates <first-use>',
    summary: 'a self-signed certificate at first use: refuse it until it is trusted, or pin it',
    choices: ['refuse', 'pin']
  },
  {
    flags: '--provider <id>',
    summary: 'a rate or swap plugin that may ask its servers, such as coinbase; none: none of them',
    isRepeatable: true
  }
]

/** Profiles: the network, the servers and the data of each. */
export const profileCommands: readonly CommandSpec[] = [
  {
    name: 'profile create',
    arguments: '<name>',
    summary: 'make a profile on a real network; it asks the servers that it names, and no other',
    example: 'profile create trial --network test --chain bitcoin=tls://host:60002',
    flags: [
      {
        flags: '--network <network>',
        summary: 'its network, which it keeps',
        choices: ['main', 'test', 'regtest']
      },
      ...SERVERS,
      CONFIRM
    ],
    secrets: ['api-key', 'node-login'],
    runsAlone: true,
    load: async () => (await import('./profiles/manage-profiles.ts')).profileCreate
  },
  {
    name: 'profile show',
    readsOnly: true,
    arguments: '[name]',
    summary: 'show the settings of a profile, and where each comes from',
    runsAlone: true,
    load: async () => (await import('./profiles/show-profiles.ts')).profileShow
  },
  {
    name: 'profile edit',
    arguments: '<name>',
    summary: 'change the servers of a profile; a flag replaces what it names',
    example: 'profile edit savings --provider coinbase --provider kraken',
    flags: SERVERS,
    secrets: ['api-key', 'node-login'],
    runsAlone: true,
    load: async () => (await import('./profiles/manage-profiles.ts')).profileEdit
  },
  {
    name: 'profile trust',
    arguments: '[name]',
    summary: 'show the certificates of Electrum servers and pin those that are self-signed, after a question',
    flags: [
      {
        flags: '--forget <server>',
        summary: 'forget the certificate of host:port instead, such as one that its operator has replaced',
        isRepeatable: true
      }
    ],
    runsAlone: true,
    load: async () => (await import('./profiles/trust-servers.ts')).profileTrust
  },
  {
    name: 'profile store',
    arguments: '<name> [url]',
    summary: 'show or choose where the accounts of a profile are kept: a folder, LevelDB or a database',
    example: 'profile store savings level:///home/me/wallets',
    flags: [
      {
        flags: '--unprotected',
        summary: 'no other program uses this database, which has no lock, and it makes writes durable'
      }
    ],
    secrets: ['store-password'],
    runsAlone: true,
    load: async () => (await import('./profiles/choose-store.ts')).profileStore
  },
  {
    name: 'profile list',
    readsOnly: true,
    summary: 'list the profiles',
    aliases: ['ls'],
    runsAlone: true,
    load: async () => (await import('./profiles/show-profiles.ts')).profileList
  },
  {
    name: 'profile default',
    arguments: '[name]',
    summary: 'show or choose the profile of commands that name none',
    runsAlone: true,
    load: async () => (await import('./profiles/manage-profiles.ts')).profileDefault
  },
  {
    name: 'profile remove',
    arguments: '<name>',
    summary: 'delete a profile with all its data on this computer',
    flags: [CONFIRM],
    runsAlone: true,
    load: async () => (await import('./profiles/manage-profiles.ts')).profileRemove
  }
]
