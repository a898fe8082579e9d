import type { CommandSpec } from '../session/command.ts'
import { ANY_LOGIN } from './flags.ts'

/** The rules of the account about its payments. */
export const policyCommands: readonly CommandSpec[] = [
  {
    name: 'policy list',
    readsOnly: true,
    aliases: ['ls'],
    summary: 'list the rules about payments, and the changes that wait',
    secrets: ANY_LOGIN,
    load: async () => (await import('./policies/manage-policies.ts')).policyList
  },
  {
    name: 'policy add',
    arguments: '<id> <kind>',
    summary:
      'add or change a rule: per-payment, rolling, allow-list, new-payee-delay, hours, second-device, uses or loosening-delay',
    example: 'policy add daily rolling --max "0.01 BTC" --per 24h',
    flags: [
      {
        flags: '--max <amount>',
        summary: '"0.01 BTC" or "10 EUR", with per-payment, rolling and second-device'
      },
      { flags: '--per <span>', summary: 'the window of rolling, up to 7d (24h)' },
      { flags: '--asset <currency>', summary: 'concern only this currency, such as bitcoin' },
      { flags: '--client <program>', summary: 'concern only payments that this program asks for' },
      {
        flags: '--to <address>',
        summary: 'a payee of allow-list, or a known one of new-payee-delay',
        isRepeatable: true
      },
      {
        flags: '--approver <name=key>',
        summary: 'a device of second-device, with the key that "policy device" shows there',
        isRepeatable: true
      },
      { flags: '--wait <span>', summary: 'the delay of new-payee-delay and loosening-delay, such as 24h' },
      { flags: '--from <time>', summary: 'when the hours begin, such as 08:00' },
      { flags: '--until <time>', summary: 'when the hours end' },
      { flags: '--zone <zone>', summary: 'the time zone of the hours, such as Europe/Berlin (UTC)' },
      {
        flags: '--use <use>',
        summary:
          'a use of keys that is allowed: message, show, sweep, backup, "login key" or "approve login"',
        isRepeatable: true
      }
    ],
    secrets: ANY_LOGIN,
    load: async () => (await import('./policies/manage-policies.ts')).policyAdd
  },
  {
    name: 'policy remove',
    arguments: '<id>',
    summary: 'remove a rule; needs the password',
    secrets: ANY_LOGIN,
    load: async () => (await import('./policies/manage-policies.ts')).policyRemove
  },
  {
    name: 'policy reset',
    summary: 'begin anew without rules, if those that there are cannot be read; needs the password',
    secrets: ANY_LOGIN,
    load: async () => (await import('./policies/manage-policies.ts')).policyReset
  },
  {
    name: 'policy set-aside',
    summary: 'set payments aside that damage keeps from being read; needs a typed yes and the password',
    secrets: ANY_LOGIN,
    load: async () => (await import('./policies/manage-policies.ts')).policySetAside
  },
  {
    name: 'policy cancel',
    arguments: '<id> [payee]',
    summary: 'cancel a change that waits, or with a rule and a payee make the payee new again',
    secrets: ANY_LOGIN,
    load: async () => (await import('./policies/manage-policies.ts')).policyCancel
  },
  {
    name: 'policy device',
    summary: 'show the key with which this device approves payments of others',
    secrets: ANY_LOGIN,
    load: async () => (await import('./policies/approve-payment.ts')).policyDevice
  },
  {
    name: 'policy approve',
    arguments: '<code>',
    summary: 'show a payment that waits on another device, and approve or refuse it',
    secrets: ANY_LOGIN,
    load: async () => (await import('./policies/approve-payment.ts')).policyApprove
  },
  {
    name: 'policy explain',
    readsOnly: true,
    summary: 'show how each rule stands: spent, left and when more is free',
    secrets: ANY_LOGIN,
    load: async () => (await import('./policies/explain-policies.ts')).policyExplain
  },
  {
    name: 'policy test',
    readsOnly: true,
    arguments: '<wallet> <amount> <payee>',
    summary: 'ask the rules about a payment without making it; exit code 36 if they refuse',
    example: 'policy test Savings "0.01 BTC" bcrt1q…',
    flags: [{ flags: '--client <program>', summary: 'as if this program asked for it' }],
    secrets: ANY_LOGIN,
    load: async () => (await import('./policies/explain-policies.ts')).policyTest
  }
]
