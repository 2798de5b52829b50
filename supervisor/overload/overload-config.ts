/** The overload manager's configuration as it acts on it. Types only. */

import type { LeastTimeout, ShedPoint } from '../../shared/resources/overload.ts';

export type ResourceMonitor = { readonly name: string } &
  /** Memory of all processes of this server. */
  (
    | { readonly kind: 'fixed_heap'; readonly maxBytes: number }
    | { readonly kind: 'cgroup_memory'; readonly maxBytes: number | undefined }
    | { readonly kind: 'cpu'; readonly isOfContainer: boolean }
    /** A file that holds the pressure. */
    | { readonly kind: 'file'; readonly path: string }
  );

export type Trigger = { readonly monitor: string } & (
  | { readonly kind: 'threshold'; readonly value: number }
  | { readonly kind: 'scaled'; readonly from: number; readonly to: number }
);

export interface OverloadAction {
  readonly name: string;
  readonly triggers: readonly Trigger[];
}

export interface LoadShedPoint {
  readonly point: ShedPoint;
  readonly triggers: readonly Trigger[];
}

export interface OverloadConfig {
  readonly refreshMs: number;
  readonly monitors: readonly ResourceMonitor[];
  readonly actions: readonly OverloadAction[];
  readonly shedPoints: readonly LoadShedPoint[];
  /** What the action on timeouts comes down to. */
  readonly leastTimeouts: readonly LeastTimeout[];
  /** The limit for all listeners together; absent: no limit. */
  readonly maxConnections?: number;
}
