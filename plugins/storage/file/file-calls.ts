import * as fs from 'node:fs'
import { promisify } from 'node:util'

/** The calls of the system by the number of an open file. */
export interface FileCalls {
  open(path: string, flags: string, mode?: number): Promise<number>
  close(file: number): Promise<void>
  fsync(file: number): Promise<void>
  /** Writes all of a text. */
  write(file: number, text: string): Promise<void>
  /** The content of a folder, in any order. */
  list(path: string): Promise<fs.Dirent[]>
  /** All bytes of a file. */
  readAll(path: string): Promise<Uint8Array>
  /** Reads up to `length` bytes from `start` on, as letters of one byte each. */
  read(file: number, start: number, length: number): Promise<string>
}

/** Those of Node with a callback. Its promises and file handles cost twice as much, and a store makes thousands of calls. */
export const fileCalls: FileCalls = {
  open: promisify(fs.open),
  close: promisify(fs.close),
  fsync: promisify(fs.fsync),
  list: path =>
    new Promise((resolve, reject) => {
      fs.readdir(path, { withFileTypes: true }, (error, entries) => {
        if (error === null) resolve(entries)
        else reject(error)
      })
    }),
  readAll: promisify<string, Uint8Array>(fs.readFile),
  async write(file, text) {
    const bytes = Buffer.from(text, 'utf8')
    for (let at = 0; at < bytes.length; ) at += await writeSome(file, bytes, at)
  },
  read: (file, start, length) =>
    new Promise((resolve, reject) => {
      fs.read(file, Buffer.allocUnsafe(length), 0, length, start, (error, count, bytes) => {
        if (error === null) resolve(bytes.toString('latin1', 0, count))
        else reject(error)
      })
    })
}

const writeSome = (file: number, bytes: Buffer, at: number): Promise<number> =>
  new Promise((resolve, reject) => {
    fs.write(file, bytes, at, bytes.length - at, null, (error, count) => {
      if (error === null) resolve(count)
      else reject(error)
    })
  })

/** Opens a file, runs a task with its number, and closes it. */
export const withFile = async <T>(
  path: string,
  { flags, mode }: { readonly flags: string; readonly mode?: number },
  task: (file: number) => Promise<T>
): Promise<T> => {
  const file = await fileCalls.open(path, flags, mode)
  try {
    return await task(file)
  } finally {
    await fileCalls.close(file)
  }
}
