/** What a worker's active check has to say for the event log. */

export type CheckFailureType = 'ACTIVE' | 'PASSIVE' | 'NETWORK' | 'NETWORK_TIMEOUT';

export type CheckEvent =
  | {
      readonly kind: 'eject_unhealthy';
      readonly failureType: CheckFailureType;
      /** 0 without an answer over HTTP. */
      readonly status: number;
    }
  | {
      readonly kind: 'failure';
      readonly failureType: CheckFailureType;
      readonly status: number;
      readonly isFirst: boolean;
    }
  | { readonly kind: 'add_healthy'; readonly isFirst: boolean }
  | { readonly kind: 'success' | 'degraded' | 'no_longer_degraded' };
