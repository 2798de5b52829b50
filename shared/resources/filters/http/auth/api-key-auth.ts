/** Settings and stats of envoy.filters.http.api_key_auth. */
import { defineTemplate } from '../../../../stats/template.ts';
import { counter } from '../../../../stats/templates/spec.ts';
import { declareKind, type FilterResource } from '../../declare-filter.ts';

/** Where a key may stand; header names are in lower case. */
export type KeyPlace =
  | { readonly kind: 'header'; readonly name: string }
  | { readonly kind: 'query'; readonly name: string }
  | { readonly kind: 'cookie'; readonly name: string };

export interface KeyForwarding {
  /** Carries the client's name upstream; empty for none. */
  readonly header: string;
  /** The key does not go upstream. */
  readonly hidesKey: boolean;
}

/** The options of a chain or a route; what is absent in a route is that of the chain. */
export interface ApiKeyAuthOptions {
  /** Key to client. */
  readonly clients?: ReadonlyMap<string, string>;
  readonly places?: readonly KeyPlace[];
  readonly forwarding?: KeyForwarding;
  /** Empty: all. */
  readonly allowedClients: readonly string[];
}

/** Prefix: `http.<stat_prefix>.api_key_auth.` */
export const API_KEY_AUTH = defineTemplate('api_key_auth', {
  allowed: counter('Requests with a known key'),
  forbidden: counter('Requests of clients that may not come here'),
  unauthorized: counter('Requests without a known key'),
});

export type ApiKeyAuthFilterSettings = FilterResource<'api_key_auth', ApiKeyAuthOptions>;

export const API_KEY_AUTH_DECLARATION = declareKind<ApiKeyAuthFilterSettings>(API_KEY_AUTH);
