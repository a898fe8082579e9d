import type { NamedAction } from '../app/actions/actions.ts'
import type { FileTexts } from './project-files.ts'

/** The faces as they are: what the declarations of actions are compared with. */
export interface ActualFaces {
  /** The names of all commands. */
  readonly commands: ReadonlySet<string>
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

const commandProblems = ({ faces }: NamedAction, { commands }: ActualFaces): readonly string[] => {
  if (typeof faces.cli !== 'string') return reasonProblems('the command line', faces.cli)
  return commands.has(faces.cli) ? [] : [`there is no command "${faces.cli}"`]
}

const panelProblems = ({ name, faces }: NamedAction, { panel }: ActualFaces): readonly string[] => {
  const users = [...panel].filter(([, text]) => text.includes(`'${name}'`) || text.includes(`"${name}"`))
  if (typeof faces.panel !== 'string')
    return [
      ...reasonProblems('the panel', faces.panel),
      ...users.map(([path]) => `${path} uses it, although the panel is said to lack it`)
    ]
  const isIn = new RegExp(`/${faces.panel}\\.tsx?$`)
  if (users.some(([path]) => isIn.test(path))) return []
  return [`the panel has no ${faces.panel} that uses it`]
}

const programProblems = ({ effect, faces }: NamedAction): readonly string[] => {
  if (faces.mcp !== 'tool') return reasonProblems('MCP', faces.mcp)
  return effect === 'pays' || effect === 'loses' ? [`it ${effect}, so it is no tool of a program`] : []
}

const reasonProblems = (face: string, reason: { readonly none: string } | undefined): readonly string[] =>
  (reason?.none ?? '').trim().length < 10 ? [`${face} lacks it without a reason`] : []
