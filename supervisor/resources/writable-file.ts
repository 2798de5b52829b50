/** Files that are appended to: one that cannot be opened is an error of the configuration. */
import { closeSync, openSync } from 'node:fs';
import { appendFlags } from '../../shared/process/append-flags.ts';
import { errorText } from '../../shared/text/error-text.ts';
import type { Scope } from './scope.ts';

/** These mean a descriptor that the process has; opening them fails when it is a socket. */
const INHERITED = /^\/(?:dev\/std(?:out|err)|proc\/self\/fd\/[0-9]+)$/;

/** Makes the file where it is not there. */
export function checkWritable(path: string, scope: Scope): void {
  if (INHERITED.test(path)) return;
  try {
    closeSync(openSync(path, appendFlags(path), 0o666));
  } catch (error) {
    scope.error('file', `unable to open file '${path}': ${reason(error)}`);
  }
}

/** The C library's words in an error such as `ENOENT: no such file or directory, open '…'`. */
function reason(error: unknown): string {
  const text = errorText(error);
  const words = /^[A-Z0-9]+: (.*?)(?:, open .*)?$/.exec(text)?.[1] ?? text;
  if (words === 'illegal operation on a directory') return 'Is a directory';
  if (words === 'too many symbolic links encountered') return 'Too many levels of symbolic links';
  return words.charAt(0).toUpperCase() + words.slice(1);
}
