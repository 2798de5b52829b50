/**
 * The seam between a health check's rhythm and what it asks: one exchange with a host at a time.
 */

import type { Socket } from 'node:net';
import type { CheckRequest } from './check-requests.ts';

export type ProbeOutcome =
  /** The host is well; `isDegraded` by its own word. */
  | { readonly kind: 'passed'; readonly isDegraded: boolean }
  /** It answered that it is not. */
  | {
      readonly kind: 'failed';
      readonly isRetriable: boolean;
      readonly isImmediate: boolean;
      /** Over HTTP, else 0. */
      readonly status: number;
    }
  /** There was no answer, or none in time. */
  | { readonly kind: 'unreachable'; readonly isTimeout: boolean };

export interface ProbeTarget {
  /** Starts to connect. */
  open(): Socket;
  /** The socket's event after which it carries the check's own bytes. */
  readonly readyEvent: 'connect' | 'secureConnect';
  /** `:authority` where the check itself has none. */
  readonly authority: string;
}

/** Over HTTP. */
export interface RequestTarget extends ProbeTarget {
  /** The next request. */
  request(): CheckRequest;
}

export interface Probe {
  /**
   * Begins an exchange; `done` is called once, unless `cancel` comes first. Over TCP it is called
   * again when the host ends the connection that was kept for the next exchange.
   */
  run(done: (outcome: ProbeOutcome) => void): void;
  /** Gives the exchange up and closes the connection. */
  cancel(): void;
}
