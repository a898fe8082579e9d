import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Job, JobResult } from './job.ts'

/** A job in a process of its own was stopped because it took too long. */
export const TOO_LATE = 'too late'

/**
 * Does a job in a process of its own.
 *
 * @throws Error with what the process said if it failed, or found a wrong result
 */
export const runJob = async (job: Job, limitMs: number): Promise<JobResult | typeof TOO_LATE> => {
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
    if (killed === true) return TOO_LATE
    throw new Error(`${job.work} of ${job.place.side}: ${(stderr || String(error)).trim().slice(-3000)}`)
  }
}
