import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';

const ofLinux = '/proc/self/stat';

/**
 * True if this process is in the foreground of its terminal. In the background (`&`), and without a terminal of its own,
 * the terminal belongs to somebody else's work.
 */
export function isInForeground(): boolean {
  if (!existsSync(ofLinux)) {
    const { status, stdout } = spawnSync('sh', ['-c', 'ps -o stat= -p $PPID'], { encoding: 'utf8' });
    return status !== 0 || stdout.includes('+');
  }
  // Behind the name, which may hold anything: state, parent, group, session, terminal, and the group in its foreground.
  const [, behindName = ''] = /.*\) (.*)$/s.exec(readFileSync(ofLinux, 'latin1')) ?? [];
  const [, , group, , , foreground] = behindName.split(' ');
  return group === foreground;
}
