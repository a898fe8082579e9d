import { mkdir, writeFile } from 'node:fs/promises'
import { Session } from 'node:inspector/promises'
import { join } from 'node:path'

/**
 * Runs a step under the profiler and leaves what it saw as a `.cpuprofile` in a folder, for a browser's developer
 * tools or an editor. The step takes longer for it.
 */
export const profiled = async <T>(
  { folder, name }: { readonly folder: string; readonly name: string },
  task: () => Promise<T>
): Promise<T> => {
  const session = new Session()
  session.connect()
  try {
    await session.post('Profiler.enable')
    await session.post('Profiler.setSamplingInterval', { interval: INTERVAL_US })
    await session.post('Profiler.start')
    const value = await task()
    const { profile } = await session.post('Profiler.stop')
    await mkdir(folder, { recursive: true })
    await writeFile(join(folder, `${name}.cpuprofile`), JSON.stringify(profile))
    return value
  } finally {
    session.disconnect()
  }
}

const INTERVAL_US = 200
