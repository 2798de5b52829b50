/** What the admin interface asks of a drain and reads of it. Implemented by supervisor/drain/. */

export interface DrainRequest {
  readonly inboundOnly: boolean;
  readonly graceful: boolean;
  readonly skipExit: boolean;
  /** Absent when only parameters of Envoy were given. */
  readonly own?: OwnDrainParams;
}

/** Parameters that Envoy does not have; times are milliseconds. */
export interface OwnDrainParams {
  /** This listener alone. */
  readonly listener?: string;
  /** The drain is not over before. */
  readonly minMs: number;
  /** Then listeners are closed and what is still open is cut; absent: `--drain-time-s`. */
  readonly maxMs?: number;
  /** The server ends with the drain. */
  readonly exits: boolean;
  /** Connections that are idle for this long are closed early. */
  readonly closeIdleAfterMs?: number;
}

export type DrainResult =
  | { readonly ok: true; readonly ended?: Promise<DrainEnd> }
  | { readonly ok: false; readonly reason: string };

export type DrainEnd =
  /** `cut` connections were still open at the deadline. */
  { readonly kind: 'drained'; readonly cut: number } | { readonly kind: 'undone' };

export interface DrainCommands {
  drainListeners(request: DrainRequest): DrainResult;
  /** Refused once a listener was closed. */
  undrainListeners(): DrainResult;
  /** Bounded; a worker that does not answer is left out and `isComplete` says so. */
  drainStatus(): Promise<DrainStatus>;
}

export interface DrainStatus {
  readonly isComplete: boolean;
  readonly listeners: readonly ListenerDrainStatus[];
}

export interface ListenerDrainStatus {
  readonly name: string;
  /** `closed`: no new connections, old ones go on; `drained`: none is left. */
  readonly state: 'serving' | 'draining' | 'closed' | 'drained';
  readonly open: number;
  readonly idle: number;
  readonly active: number;
  readonly streams: number;
  /** Share of the connections of the drain's worst moment that have ended. */
  readonly percent: number;
  /** Since the drain began. */
  readonly elapsedMs?: number;
  /** Until the listener is closed and, with a parameter of our own, the rest is cut. */
  readonly deadlineMs?: number;
}
