/**
 * The identity of the built files, written by the build beside them. Supervisor and workers compare
 * it in their hello, so that a package upgraded under a running server is noticed.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { builtRoot } from '../process/built-root.ts';

let buildIdOnce: string | undefined;

/** The id of the files that this process was loaded from; read once, at the first call. */
export function buildId(): string {
  buildIdOnce ??= readBuildId();
  return buildIdOnce;
}

function readBuildId(): string {
  const stamp: unknown = JSON.parse(
    readFileSync(join(builtRoot, 'shared', 'build-stamp.json'), 'utf8'),
  );
  if (typeof stamp === 'object' && stamp !== null && 'buildId' in stamp) {
    const { buildId: id } = stamp;
    if (typeof id === 'string') return id;
  }
  throw new Error('build-stamp.json has no buildId');
}
