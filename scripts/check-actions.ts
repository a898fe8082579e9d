import { posix } from 'node:path'
import type { NamedAction } from '../app/actions/actions.ts'
import { importsOf } from './imports-of.ts'
import type { FileTexts } from './project-files.ts'

/** The faces as they are: what the declarations of actions are compared with. */
export interface ActualFaces {
  /** The file of each command, by its name. */
  readonly commands: ReadonlyMap<string, string>
  /** The sources of the command line. */
  readonly cli: FileTexts
  /** The sources of the panel. */
  readonly panel: FileTexts
}

/**
 * Finds actions that a face lacks without a reason, faces that name a command or a form that does not exist, and actions
 * without schemas or texts (pure).
 *
 * @returns one sentence for each problem
 */
export const checkActions = (actions: readonly NamedAction[], actual: ActualFaces): readonly string[] =>
  actions.flatMap(action =>
    [
      ...textProblems(action),
      ...schemaProblems(action),
      ...commandProblems(action, actual),
      ...panelProblems(action, actual),
      ...programProblems(action)
    ].map(problem => `${action.name}: ${problem}`)
  )

const textProblems = ({ title, summary }: NamedAction): readonly string[] => [
  ...(title.trim() === '' ? ['has no title'] : []),
  ...(summary.trim() === '' ? ['has no summary'] : [])
]

const schemaProblems = ({ input, output }: NamedAction): readonly string[] =>
  [
    ['input', input],
    ['result', output]
  ].flatMap(([name, field]) => {
    const { schema } = field as NamedAction['input']
    return schema?.type === 'object' && schema.additionalProperties === false
      ? []
      : [`the ${name} has no closed schema`]
  })

/** A command runs the action that it is said to offer, or the declaration says why it has code of its own. */
const commandProblems = ({ name, faces }: NamedAction, { commands, cli }: ActualFaces): readonly string[] => {
  if (typeof faces.cli !== 'string' && 'none' in faces.cli)
    return reasonProblems('the command line', faces.cli.none)
  const { command, own } = typeof faces.cli === 'string' ? { command: faces.cli, own: undefined } : faces.cli
  const path = commands.get(command)
  if (path === undefined) return [`there is no command "${command}"`]
  const isRun = runsAction(path, name, cli)
  if (own === undefined)
    return isRun ? [] : [`${path} does not run it, and "${command}" states no reason for code of its own`]
  return [
    ...reasonProblems(`the command "${command}"`, own),
    ...(isRun ? [`${path} runs it, although "${command}" is said to have code of its own`] : [])
  ]
}

/** True if a file names an action as `group['name']`, or one does that it imports: what several commands share. */
const runsAction = (path: string, name: string, cli: FileTexts): boolean => {
  const text = cli.get(path) ?? ''
  const shared = importsOf(text).map(({ specifier }) => posix.join(posix.dirname(path), specifier))
  return [path, ...shared].some(each => cli.get(each)?.includes(`['${name}']`) === true)
}

/**
 * Finds the file of each command in the sources of the grammar (pure): what its `load` imports.
 *
 * @param grammar - the sources of the grammar, by path
 */
export const commandFiles = (grammar: FileTexts): ReadonlyMap<string, string> =>
  new Map(
    [...grammar].flatMap(([path, text]) =>
      [...text.matchAll(COMMAND)].flatMap(([, name = '', specifier = '']) =>
        specifier === '' ? [] : [[name, posix.join(posix.dirname(path), specifier)] as const]
      )
    )
  )

const COMMAND = /\bname: '([^']+)'(?:(?!\bname: ')[\s\S])*?\bimport\('([^']+)'\)/g

const panelProblems = ({ name, faces }: NamedAction, { panel }: ActualFaces): readonly string[] => {
  const users = [...panel].filter(([, text]) => text.includes(`'${name}'`) || text.includes(`"${name}"`))
  if (typeof faces.panel !== 'string')
    return [
      ...reasonProblems('the panel', faces.panel?.none),
      ...users.map(([path]) => `${path} uses it, although the panel is said to lack it`)
    ]
  const isIn = new RegExp(`/${faces.panel}\\.tsx?$`)
  if (users.some(([path]) => isIn.test(path))) return []
  return [`the panel has no ${faces.panel} that uses it`]
}

const programProblems = ({ effect, faces }: NamedAction): readonly string[] => {
  if (faces.mcp !== 'tool') return reasonProblems('MCP', faces.mcp?.none)
  return effect === 'pays' || effect === 'loses' ? [`it ${effect}, so it is no tool of a program`] : []
}

const reasonProblems = (face: string, reason: string | undefined): readonly string[] =>
  (reason ?? '').trim().length < 10 ? [`${face} lacks it without a reason`] : []
