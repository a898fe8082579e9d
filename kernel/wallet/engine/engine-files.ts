import { checkPath } from '../../base/disk-path.ts'
import { WalletError } from '../../base/errors.ts'
import { isRecord, parseJson } from '../../base/json.ts'
import type { Disk } from '../../io/disk.ts'
import type { CryptoPort } from '../../io/io.ts'
import { quotaDisk } from '../../plugins/quota-disk.ts'
import type { Services } from '../../plugins/services.ts'
import { storeBelow } from '../../repo/store/bulk.ts'
import type { Repo } from '../../sync/repo.ts'
import type { CurrencyInfo } from '../../types/currency.ts'
import type { EngineFiles } from '../../types/engine.ts'
import type { FileHash } from '../../types/ids.ts'

/** The wallet whose engines keep files. */
export interface EngineFilesOptions {
  readonly services: Services
  readonly repo: Pick<Repo, 'getText' | 'list' | 'local' | 'write'>
  readonly info: CurrencyInfo
  /** The wallet's file-name hash. @throws LOGGED_OUT */
  hashOf(text: string): FileHash
  /** Hands a failure that was survived to the application. */
  report(error: unknown): void
}

/** The folder of a wallet's repo that holds the synced files of its engines. */
export const ENGINE_FOLDER = 'Engine'

/** Gives the files of a wallet for its engine; they are made when they are first used, since most engines use none. */
export const engineFilesOf = (
  wallet: EngineFilesOptions
): ((name: 'localFiles' | 'syncedFiles') => EngineFiles) => {
  const made: { localFiles?: EngineFiles; syncedFiles?: EngineFiles } = {}
  return name => {
    made[name] ??= makeFiles(wallet, name)
    return made[name]
  }
}

const makeFiles = (wallet: EngineFilesOptions, name: 'localFiles' | 'syncedFiles'): EngineFiles => {
  const { services, info, report: onRefused } = wallet
  const { pluginId } = info
  const quota =
    name === 'localFiles'
      ? { maxCharacters: 2_000_000, maxFiles: 1000 }
      : { maxCharacters: 200_000, maxFiles: 100 }
  const disk = name === 'localFiles' ? localDisk(wallet) : syncedDisk(wallet)
  return filesOn(quotaDisk(disk, { pluginId, ...quota, onRefused }), services.io.crypto)
}

/**
 * Texts and bytes on a disk of texts: each file is JSON with its path, and its text or bytes.
 *
 * @throws TypeError for a text that is none
 */
export const filesOn = (disk: Disk, crypto: Pick<CryptoPort, 'fromBase64' | 'toBase64'>): EngineFiles => {
  const read = async (path: string, field: 'base64' | 'text'): Promise<string | undefined> => {
    const record = recordOf(await disk.getText(checkPath(path)))
    const value = record?.[field]
    return typeof value === 'string' ? value : undefined
  }
  const write = (path: string, content: object): Promise<void> =>
    disk.setText(checkPath(path), JSON.stringify({ path, ...content }))
  return Object.freeze({
    getText: (path: string) => read(path, 'text'),
    async setText(path: string, text: string) {
      if (typeof text !== 'string') throw new TypeError('setText takes a text')
      await write(path, { text })
    },
    async getData(path: string) {
      const base64 = await read(path, 'base64')
      return base64 === undefined ? undefined : crypto.fromBase64(base64)
    },
    async setData(path: string, data: Uint8Array) {
      if (!(data instanceof Uint8Array)) throw new TypeError('setData takes bytes')
      await write(path, { base64: crypto.toBase64(data) })
    },
    delete: async (path: string) => disk.delete(checkPath(path)),
    list: async (folder: string) => disk.list(folder === '' ? '' : checkPath(folder))
  })
}

const recordOf = (text: string | undefined): Record<string, unknown> | undefined => {
  if (text === undefined) return undefined
  const record = parseJson(text, 'file of an engine')
  if (isRecord(record)) return record
  throw new WalletError('CORRUPT_FILE', { path: 'file of an engine', rule: 'is no object' })
}

const below = (folder: string, paths: Iterable<string>): string[] =>
  [...paths].filter(path => folder === '' || path.startsWith(`${folder}/`)).sort()

/** The part of the wallet's own store that is never synced. */
const localDisk = ({ repo }: EngineFilesOptions): Disk => {
  const store = storeBelow(repo.local, 'engine-files/')
  return {
    getText: async path => store.get(path),
    setText: (path, text) => store.write(new Map([[path, text]])),
    delete: path => store.write(new Map([[path, null]])),
    list: async folder =>
      below(
        folder,
        [...store.entries('')].map(([path]) => path)
      )
  }
}

/** The wallet's repo, where a hash hides each path from the servers. */
const syncedDisk = ({ repo, info: { pluginId }, hashOf, report }: EngineFilesOptions): Disk => {
  const fileOf = (path: string): string => `${ENGINE_FOLDER}/${hashOf(`${pluginId}/${path}`)}.json`
  const write = async (path: string, text: string | null): Promise<void> =>
    void (await repo.write({ texts: new Map([[fileOf(path), text]]) }))
  const pathOf = async (file: string): Promise<string | undefined> => {
    try {
      const { path } = recordOf(await repo.getText(file)) ?? {}
      // A server can put a file in the place of another one.
      return typeof path === 'string' && fileOf(path) === file ? path : undefined
    } catch (error) {
      report(error)
      return undefined
    }
  }
  return {
    async getText(path) {
      const text = await repo.getText(fileOf(path))
      const record = recordOf(text)
      return record === undefined || record.path === path ? text : undefined
    },
    setText: (path, text) => write(path, text),
    delete: path => write(path, null),
    async list(folder) {
      const paths: string[] = []
      for (const file of await repo.list(ENGINE_FOLDER)) {
        const path = await pathOf(file)
        if (path !== undefined) paths.push(path)
      }
      return below(folder, paths)
    }
  }
}
