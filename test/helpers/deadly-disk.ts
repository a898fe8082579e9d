import type { Disk } from '../../kernel/index.ts'

/** Which operation of a disk kills the process, and when. */
export interface Death {
  /** From 1; 0 to live. */
  readonly killAt: number
  /** Before the operation begins, or while it is on its way. */
  readonly moment: 'before' | 'during'
}

/** A disk that kills its own process, and when it begins and ends to be one. */
export interface DeadlyDisk extends Disk {
  /** Operations before it is armed harm nobody. */
  isArmed: boolean
}

/** Makes the disk over a real one: a write or deletion of it ends the process without warning. */
export const deadlyDisk = (disk: Disk, { killAt, moment }: Death): DeadlyDisk => {
  let count = 0
  const die = (): void => void process.kill(process.pid, 'SIGKILL')
  const deadly = async (operation: () => Promise<void>): Promise<void> => {
    if (!armed.isArmed) return operation()
    count += 1
    if (count !== killAt) return operation()
    if (moment === 'before') die()
    setImmediate(die)
    return operation()
  }
  const armed: DeadlyDisk = {
    ...disk,
    isArmed: false,
    setText: (path, text) => deadly(() => disk.setText(path, text)),
    delete: path => deadly(() => disk.delete(path))
  }
  return armed
}
