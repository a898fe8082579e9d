import { CliError } from '../../errors/cli-error.ts'
import { globalFlags } from '../../grammar/options.ts'
import type { CommandCatalogue, CommandRun, CommandSpec } from '../../session/command.ts'
import { writeText } from '../../terminal/terminal.ts'

/** Prints the script that completes the words and flags of every command in a shell. */
export const completionOf =
  (catalogue: CommandCatalogue): CommandRun =>
  async (session, shell = '') => {
    const script = shells.get(shell)
    if (script === undefined) {
      throw new CliError('USAGE', `There is no completion for "${shell}"`, {
        hint: `Use one of ${[...shells.keys()].join(', ')}.`
      })
    }
    const text = script(placesOf(catalogue))
    if (session.globals.json) return { data: { shell, script: text }, view: { kind: 'text', lines: [] } }
    await writeText(session.terminal.stdout, text)
    return undefined
  }

/** A command or group with what can follow it. Words and flags are letters, digits and dashes, so that no shell reads more into them. */
interface Place {
  /** The words so far: '' or `tx`, or `tx list`. */
  readonly path: string
  readonly next: readonly Candidate[]
}

interface Candidate {
  readonly word: string
  readonly summary: string
}

const placesOf = ({ commands, groups }: CommandCatalogue): readonly Place[] => {
  const global = flagsOf(globalFlags)
  const next = new Map<string, Map<string, string>>()
  const add = (path: string, candidates: readonly Candidate[]): void => {
    const known = next.get(path) ?? new Map<string, string>()
    for (const { word, summary } of candidates) if (!known.has(word)) known.set(word, summary)
    next.set(path, known)
  }
  for (const spec of commands) {
    const words = spec.name.split(' ')
    words.forEach((word, at) => {
      const path = words.slice(0, at + 1).join(' ')
      const summary = path === spec.name ? spec.summary : (groups[path] ?? '')
      add(words.slice(0, at).join(' '), [{ word, summary }])
    })
    add(spec.name, [...flagsOf(spec.flags ?? []), ...secretFlags(spec)])
  }
  for (const path of next.keys()) add(path, global)
  return [...next].map(([path, candidates]) => ({
    path,
    next: [...candidates].map(([word, summary]) => ({ word, summary }))
  }))
}

const flagsOf = (
  flags: readonly { readonly flags: string; readonly summary: string }[]
): readonly Candidate[] =>
  flags.flatMap(({ flags: notation, summary }) => {
    const word = /--[a-z0-9-]+/.exec(notation)?.[0]
    return word === undefined ? [] : [{ word, summary }]
  })

const secretFlags = ({ secrets = [] }: CommandSpec): readonly Candidate[] => [
  ...secrets.flatMap(secret => [
    { word: `--${secret}-stdin`, summary: `read it from standard input` },
    { word: `--${secret}-file`, summary: 'read it from a private file' }
  ]),
  ...(secrets.length === 0
    ? []
    : [
        { word: '--secrets-stdin', summary: 'read secrets as JSON from standard input' },
        { word: '--secrets-fd', summary: 'read secrets as JSON from an open descriptor' }
      ])
]

/** Finds the longest path that the typed words begin with; a value such as the name of a wallet ends it. */
const WALK = `  local path='' word
  for word in "\${typed[@]}"; do
    case "$word" in -*) continue ;; esac
    case "$known" in *"|\${path:+$path }$word|"*) path="\${path:+$path }$word" ;; *) break ;; esac
  done`

const knownPaths = (places: readonly Place[]): string => `|${places.map(({ path }) => path).join('|')}|`

const bash = (
  places: readonly Place[]
): string => `# Completion of holdfast in bash: source <(holdfast completion bash)
_holdfast() {
  local known='${knownPaths(places)}'
  local current="\${COMP_WORDS[COMP_CWORD]}" typed=("\${COMP_WORDS[@]:1:COMP_CWORD-1}")
${WALK}
  case "$path" in
${places.map(({ path, next }) => `    '${path}') COMPREPLY=($(compgen -W '${next.map(({ word }) => word).join(' ')}' -- "$current")) ;;`).join('\n')}
  esac
}
complete -o default -F _holdfast holdfast
`

/** A summary in single quotes of a shell. */
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

const zsh = (places: readonly Place[]): string => `#compdef holdfast
# Completion of holdfast in zsh: source <(holdfast completion zsh)
_holdfast() {
  local known='${knownPaths(places)}'
  local -a typed candidates
  typed=("\${(@)words[2,CURRENT-1]}")
${WALK}
  case "$path" in
${places
  .map(
    ({ path, next }) =>
      `    '${path}') candidates=(${next.map(({ word, summary }) => quoted(`${word}:${summary.replaceAll(':', ' -')}`)).join(' ')}) ;;`
  )
  .join('\n')}
  esac
  _describe holdfast candidates || _files
}
compdef _holdfast holdfast
`

const fish = (places: readonly Place[]): string => {
  const lines = places.flatMap(({ path, next }) =>
    next.map(({ word, summary }) => {
      const what = word.startsWith('--') ? `-l ${word.slice(2)}` : `-f -a ${word}`
      return `complete -c holdfast -n '__holdfast_at "${path}"' ${what} -d ${quoted(summary)}`
    })
  )
  return `# Completion of holdfast in fish: holdfast completion fish | source
set -g __holdfast_known ${places.map(({ path }) => `'${path}'`).join(' ')}
function __holdfast_at
  set -l path
  for word in (commandline -opc)[2..-1]
    string match -q -- '-*' $word; and continue
    set -l longer (string join ' ' $path $word)
    contains -- $longer $__holdfast_known; or break
    set path $longer
  end
  test "$path" = "$argv[1]"
end
${lines.join('\n')}
`
}

const shells: ReadonlyMap<string, (places: readonly Place[]) => string> = new Map([
  ['bash', bash],
  ['zsh', zsh],
  ['fish', fish]
])
