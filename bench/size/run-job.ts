import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Job, JobResult } from './job.ts'

/** Why a job in a process of its own has no result. */
export class Unfinished {
  readonly reason: string

  constructor(reason: string) {
    this.reason = reason
  }
}

/**
 * Does a job in a process of its own.
 *
 * @throws Error with what the process said if it failed, or found a wrong result
 */
export const runJob = async (job: Job, limitMs: number): Promise<JobResult | Unfinished> => {
  const script = fileURLToPath(new URL('job-process.js', import.meta.url))
  const args = [
    '--expose-gc',
    '--max-old-space-size=8192',
    '--enable-source-maps',
    script,
    JSON.stringify(job)
  ]
  const options = { maxBuffer: 1 << 24, timeout: limitMs, killSignal: 'SIGKILL' } as const
  try {
    const { stdout } = await promisify(execFile)(process.execPath, args, options)
    return JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '') as JobResult
  } catch (error) {
    const { killed, stderr } = error as { killed?: boolean; stderr?: string }
    if (killed === true) return new Unfinished(`not finished in ${limitMs / 1000} s`)
    // The published core opens all files of a repo at once, whatever the system allows.
    if (job.place.side === 'peer' && stderr?.includes('EMFILE') === true)
      return new Unfinished('failed: too many open files')
    throw new Error(`${job.work} of ${job.place.side}: ${(stderr || String(error)).trim().slice(-3000)}`)
  }
}
