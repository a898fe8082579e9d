import test from 'ava'
import { actions, type NamedAction } from '../../app/actions/actions.ts'
import { checkActions, commandFiles } from '../../scripts/check-actions.ts'

const draft = actions.find(({ name }) => name === 'spend.draft') as NamedAction
const actual = {
  commands: new Map([['send', 'cli/commands/send.ts']]),
  cli: new Map([
    ['cli/commands/send.ts', "import { draft } from '../spend/draft.ts'"],
    ['cli/spend/draft.ts', "session.run(paymentActions['spend.draft'], input)"]
  ]),
  panel: new Map([['devtools/react/panels/send-form.tsx', 'name="spend.draft"']])
}
const faces = { ...draft.faces, cli: 'send' }
const problemsOf = (change: Partial<NamedAction>, faced: Partial<typeof actual> = {}): readonly string[] =>
  checkActions([{ ...draft, faces, ...change }], { ...actual, ...faced })

test('an action that each face offers passes', t => {
  t.deepEqual(problemsOf({}), [])
})

test('a face that lacks an action has to say why', t => {
  t.deepEqual(problemsOf({ faces: { ...faces, cli: { none: 'it has no amount to type' } } }), [])
  t.deepEqual(problemsOf({ faces: { ...faces, cli: { none: '' } } }), [
    'spend.draft: the command line lacks it without a reason'
  ])
  t.deepEqual(problemsOf({ faces: { ...faces, mcp: undefined as never } }), [
    'spend.draft: MCP lacks it without a reason'
  ])
})

test('a command or a form that does not exist is found', t => {
  t.deepEqual(problemsOf({ faces: { ...faces, cli: 'pay' } }), ['spend.draft: there is no command "pay"'])
  t.deepEqual(problemsOf({ faces: { ...faces, panel: 'pay-form' } }), [
    'spend.draft: the panel has no pay-form that uses it'
  ])
  t.deepEqual(problemsOf({ faces: { ...faces, panel: { none: 'people pay elsewhere' } } }), [
    'spend.draft: devtools/react/panels/send-form.tsx uses it, although the panel is said to lack it'
  ])
})

test('an action without schemas, or a tool that pays, is found', t => {
  t.deepEqual(problemsOf({ input: { schema: {}, rule: '' } }), [
    'spend.draft: the input has no closed schema'
  ])
  t.deepEqual(problemsOf({ effect: 'pays', faces: { ...faces, mcp: 'tool' } }), [
    'spend.draft: it pays, so it is no tool of a program'
  ])
})

test('a command that does not run the action that it offers is found, unless it says why', t => {
  const bypassed = { cli: new Map([['cli/commands/send.ts', 'wallet.makeSpend(request)']]) }
  t.deepEqual(problemsOf({}, bypassed), [
    'spend.draft: cli/commands/send.ts does not run it, and "send" states no reason for code of its own'
  ])
  const own = { faces: { ...faces, cli: { command: 'send', own: 'it signs into a file, too' } } }
  t.deepEqual(problemsOf(own, bypassed), [])
  t.deepEqual(problemsOf(own), [
    'spend.draft: cli/commands/send.ts runs it, although "send" is said to have code of its own'
  ])
  t.deepEqual(problemsOf({ faces: { ...faces, cli: { command: 'send', own: '' } } }, bypassed), [
    'spend.draft: the command "send" lacks it without a reason'
  ])
})

test('the file of each command is read from the grammar', t => {
  const grammar = `export const commands = [
  { name: 'send', load: async () => (await import('./transactions/send.ts')).send },
  { name: 'tip' },
  { name: 'tx open', flags: [ALL], load: async () => (await import('./transactions/open.ts')).txOpen }
]`
  t.deepEqual(
    [...commandFiles(new Map([['cli/commands/transaction-commands.ts', grammar]]))],
    [
      ['send', 'cli/commands/transactions/send.ts'],
      ['tx open', 'cli/commands/transactions/open.ts']
    ]
  )
})
