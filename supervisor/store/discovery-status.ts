/** What is known of updates that were refused or are still awaited. Types only. */
import type { JsonObject } from '../../shared/api/well-known.ts';

export interface RefusedUpdate {
  readonly details: string;
  readonly lastAttemptMs: number;
  readonly failedMessage?: JsonObject;
  /** Another resource of the same answer has the name: it is shown without one. */
  readonly isDuplicate?: true;
}

export interface UnreadyTargets {
  readonly component: 'listener';
  /** Such as `init manager Listener-local-init-manager web 123`. */
  readonly name: string;
  readonly targetNames: readonly string[];
}
