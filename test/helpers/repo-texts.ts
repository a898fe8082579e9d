import type { Repo } from '../../kernel/sync/repo.ts'

/** Writes one file of a repo. */
export const setText = async (repo: Repo, path: string, text: string): Promise<void> => {
  await repo.write({ texts: new Map([[path, text]]) })
}

/** Deletes one file of a repo. */
export const deleteFile = async (repo: Repo, path: string): Promise<void> => {
  await repo.write({ texts: new Map([[path, null]]) })
}

/** Replaces a text by what `edit` makes of the present one: null deletes, undefined leaves it. */
export const editText = async (
  repo: Repo,
  path: string,
  edit: (text: string | undefined) => string | null | undefined
): Promise<void> => {
  for (;;) {
    const present = await repo.getText(path)
    const text = edit(present)
    const texts = new Map(text === undefined ? [] : [[path, text]])
    const { isStale } = await repo.write({ texts, expect: new Map([[path, present]]) })
    if (!isStale) return
  }
}
