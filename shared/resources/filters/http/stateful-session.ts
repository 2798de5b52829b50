/** Settings of envoy.filters.http.stateful_session. */
import type { FilterResource } from '../declare-filter.ts';
import { defineTemplate } from '../../../stats/template.ts';
import { counter } from '../../../stats/templates/spec.ts';
import { declareKind } from '../declare-filter.ts';

export type SessionState =
  | {
      readonly kind: 'cookie';
      readonly cookie: {
        readonly name: string;
        readonly ttlMs?: number;
        readonly path: string;
        readonly attributes: readonly { readonly name: string; readonly value: string }[];
      };
    }
  /** Lower case. */
  | { readonly kind: 'header'; readonly name: string };

export interface StatefulSessionOptions {
  /** Absent: requests are left alone. */
  readonly state?: SessionState;
  /** A request whose host is gone is refused instead of going elsewhere. */
  readonly strict: boolean;
  /** Of that refusal; absent: 503. */
  readonly strictStatus?: number;
  /** Ends in a dot; absent: nothing is counted. */
  readonly statScope?: string;
}

/** Per route: other settings, or none at all. */
export interface StatefulSessionPerRoute {
  readonly session?: StatefulSessionOptions;
}

/** Prefix: `http.<stat_prefix>.stateful_session.<stat_prefix>.`, of routes without its first part. */
export const STATEFUL_SESSION = defineTemplate('stateful_session', {
  routed: counter('Requests that reached the host of their session'),
  failed_open: counter('Requests that reached another host, or had no session yet'),
  failed_closed: counter('Requests that were refused because the host of their session is gone'),
  no_session: counter('Requests that no session is meant for'),
});

export type StatefulSessionFilterSettings = FilterResource<
  'stateful_session',
  StatefulSessionOptions
>;

export const STATEFUL_SESSION_DECLARATION =
  declareKind<StatefulSessionFilterSettings>(STATEFUL_SESSION);
