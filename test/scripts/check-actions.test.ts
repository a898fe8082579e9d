import test from 'ava'
import { actions, type NamedAction } from '../../app/actions/actions.ts'
import { checkActions } from '../../scripts/check-actions.ts'

const draft = actions.find(({ name }) => name === 'spend.draft') as NamedAction
const actual = {
  commands: new Set(['send']),
  panel: new Map([['devtools/react/panels/send-form.tsx', 'name="spend.draft"']])
}
const problemsOf = (change: Partial<NamedAction>): readonly string[] =>
  checkActions([{ ...draft, ...change }], actual)

test('an action that each face offers passes', t => {
  t.deepEqual(problemsOf({}), [])
})

test('a face that lacks an action has to say why', t => {
  const { faces } = draft
  t.deepEqual(problemsOf({ faces: { ...faces, cli: { none: 'it has no amount to type' } } }), [])
  t.deepEqual(problemsOf({ faces: { ...faces, cli: { none: '' } } }), [
    'spend.draft: the command line lacks it without a reason'
  ])
  t.deepEqual(problemsOf({ faces: { ...faces, mcp: undefined as never } }), [
    'spend.draft: MCP lacks it without a reason'
  ])
})

test('a command or a form that does not exist is found', t => {
  const { faces } = draft
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
  t.deepEqual(problemsOf({ effect: 'pays', faces: { ...draft.faces, mcp: 'tool' } }), [
    'spend.draft: it pays, so it is no tool of a program'
  ])
})
