import { requirementIdsOf, type TestTitle } from './test-titles.ts'

/** One sentence of the specification. */
export interface Requirement {
  readonly id: string
  readonly area: string
  readonly text: string
}

/** A part of the product; once complete, every sentence of it has a test. */
export interface Area {
  readonly id: string
  readonly title: string
  readonly complete: boolean
}

/** The contents of `docs/requirements.json`. */
export interface Requirements {
  readonly areas: readonly Area[]
  readonly requirements: readonly Requirement[]
}

/** What a check of the requirements finds, and the page that shows it. */
export interface SpecCoverage {
  readonly problems: readonly string[]
  readonly page: string
}

/**
 * Compares the ids in test titles with the sentences of the specification (pure).
 *
 * An unknown id is a problem, and so is a sentence without a test in an area that is marked complete.
 */
export const checkRequirements = (wanted: Requirements, titles: readonly TestTitle[]): SpecCoverage => {
  const shownBy = new Map<string, TestTitle[]>(wanted.requirements.map(({ id }) => [id, []]))
  const problems = problemsOfList(wanted)
  for (const title of titles) {
    for (const id of new Set(requirementIdsOf(title.title))) {
      const proofs = shownBy.get(id)
      if (proofs === undefined) problems.push(`${title.path}: "${title.title}" names ${id}, which is unknown`)
      else proofs.push(title)
    }
  }
  for (const area of wanted.areas.filter(({ complete }) => complete)) {
    for (const { id, text } of inArea(wanted, area)) {
      if (shownBy.get(id)?.length === 0)
        problems.push(`${area.id} is marked complete, but ${id} has no test: ${text}`)
    }
  }
  return { problems, page: pageOf(wanted, shownBy) }
}

const inArea = ({ requirements }: Requirements, { id }: Area): readonly Requirement[] =>
  requirements.filter(({ area }) => area === id)

const problemsOfList = ({ areas, requirements }: Requirements): string[] => {
  const known = new Set(areas.map(({ id }) => id))
  const seen = new Set<string>()
  const problems: string[] = []
  for (const { id, area } of requirements) {
    if (seen.has(id)) problems.push(`requirement ${id} is listed twice`)
    if (!known.has(area)) problems.push(`requirement ${id} is in the unknown area ${area}`)
    seen.add(id)
  }
  if (requirements.length === 0) problems.push('no requirement was read')
  return problems
}

const pageOf = (wanted: Requirements, shownBy: ReadonlyMap<string, readonly TestTitle[]>): string => {
  const isCovered = ({ id }: Requirement): boolean => (shownBy.get(id)?.length ?? 0) > 0
  const countOf = (rows: readonly Requirement[]): string =>
    `${rows.filter(isCovered).length} of ${rows.length}`

  const lines = [
    '# Which tests show which sentence of the specification',
    '',
    'Generated from `requirements.json` and the titles of the tests by `npm run docs`. Do not edit.',
    '',
    `${countOf(wanted.requirements)} sentences are named by a test.`,
    '',
    '| area | covered | complete |',
    '|---|---|---|',
    ...wanted.areas.map(
      area =>
        `| [${area.id}](#${area.id}) | ${countOf(inArea(wanted, area))} | ${area.complete ? 'yes' : 'no'} |`
    )
  ]
  for (const area of wanted.areas) {
    lines.push('', `## ${area.id}`, '', `${area.title}.`, '', '| id | sentence | shown by |', '|---|---|---|')
    for (const { id, text } of inArea(wanted, area)) {
      const proofs = (shownBy.get(id) ?? []).map(({ path, title }) => `${title} (\`${path}\`)`)
      lines.push(
        `| ${id} | ${cellOf(text)} | ${proofs.length === 0 ? '*open*' : cellOf(proofs.sort().join('<br>'))} |`
      )
    }
  }
  return `${lines.join('\n')}\n`
}

const cellOf = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ')
