/** Reads small files of the system; what is not there or not allowed is undefined. */
import { readFileSync } from 'node:fs';

export function readHost(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    return undefined;
  }
}

export function readNumber(path: string): number | undefined {
  const text = readHost(path);
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : undefined;
}
