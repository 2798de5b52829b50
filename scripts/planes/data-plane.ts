/** The programs that control planes drive in the trials: Sluice, or Envoy where it is installed. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export type DataPlane = 'sluice' | 'envoy';

const SOURCE = join(import.meta.dirname, '..', '..', 'src');

/** The beginning of the command line. Sluice runs under its restarter: SIGHUP begins a restart. */
export function proxyCommand(proxy: DataPlane): string {
  if (proxy === 'envoy') return 'envoy';
  return `${process.execPath} ${join(SOURCE, 'restarter-main.js')}`;
}

/** Empty where there is no such file yet. */
export function readText(path: string): string {
  return existsSync(path) ? readFileSync(path, 'utf8') : '';
}

export function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
