/** Why a server does not take part in a hot restart: one class, one line of text. */
import type { SharedObjectRefusal } from './shared-object.ts';
import { hotRestartVersion } from './shared-object.ts';

/** The start ends with code 1; nothing was changed in other epochs. */
export class HotRestartRefused extends Error {
  readonly code = 'hot_restart_refused';
}

/** The shared memory object cannot be used; the beginning of the first texts is Envoy's. */
export function sharedObjectRefused(refusal: SharedObjectRefusal, baseId: number): Error {
  switch (refusal.reason) {
    case 'missing':
      return new HotRestartRefused(
        `cannot open shared memory region ${refusal.name} check user permissions. ` +
          `Error: No such file or directory (no server runs with --base-id ${baseId})`,
      );
    case 'no_permission':
      return new HotRestartRefused(
        `cannot open shared memory region ${refusal.name} check user permissions. ` +
          `Error: ${refusal.detail}`,
      );
    case 'unusable':
      return new HotRestartRefused(
        `cannot use shared memory region ${refusal.name}: ${refusal.detail}`,
      );
    case 'incompatible':
      return new HotRestartRefused(
        `cannot take over from another hot restart version: the running server has ` +
          `${refusal.theirs}, this one ${hotRestartVersion()}`,
      );
  }
}
