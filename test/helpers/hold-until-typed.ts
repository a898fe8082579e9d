import childProcess from 'node:child_process'
import { syncBuiltinESMExports } from 'node:module'

// Loaded before the command line: once the echo is off, it says so and stops until a whole line has been typed, so that
// whatever is typed then stands in the terminal before the question is drawn.
const { spawnSync } = childProcess

const hasLine = (): boolean =>
  spawnSync('bash', ['-c', 'read -t 0'], { stdio: ['inherit', 'ignore', 'ignore'] }).status === 0

childProcess.spawnSync = ((command: string, ...rest: [readonly string[], object]) => {
  const result = spawnSync(command, ...rest)
  if (command === 'stty' && rest[0][0] === '-echo') {
    process.stdout.write('echo is off\n')
    while (!hasLine()) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10)
  }
  return result
}) as typeof spawnSync
syncBuiltinESMExports()
