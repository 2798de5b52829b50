/** Settings of envoy.filters.http.stateful_session. */
import type { FilterResource } from '../declare-filter.ts';
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
}

/** Per route: other settings, or none at all. */
export interface StatefulSessionPerRoute {
  readonly session?: StatefulSessionOptions;
}

export type StatefulSessionFilterSettings = FilterResource<
  'stateful_session',
  StatefulSessionOptions
>;

export const STATEFUL_SESSION_DECLARATION = declareKind<StatefulSessionFilterSettings>();
