/** Settings and stats of envoy.filters.http.basic_auth. */
import type { FilterResource } from '../../declare-filter.ts';
import { declareKind } from '../../declare-filter.ts';
import { defineTemplate } from '../../../../stats/template.ts';
import { counter } from '../../../../stats/templates/spec.ts';

export interface BasicAuthOptions extends BasicAuthPerRoute {
  /** Header that carries the user's name upstream; empty for none. */
  readonly forwardUsernameHeader: string;
  /** Header that carries the credentials, in lower case. */
  readonly authenticationHeader: string;
  /** A request without credentials passes. */
  readonly allowsMissing: boolean;
  /** The user's name is written into metadata. */
  readonly emitsMetadata: boolean;
}

/** Per route: other users, and maybe another realm. */
export interface BasicAuthPerRoute {
  /** What clients are told to log in to; empty: the address of the request. */
  readonly realm: string;
  /** User name to SHA-1 of the password in base64. */
  readonly users: ReadonlyMap<string, string>;
}

/** Prefix: `http.<stat_prefix>.basic_auth.` */
export const BASIC_AUTH = defineTemplate('basic_auth', {
  allowed: counter('Requests with a known user and password'),
  denied: counter('Requests refused for their credentials'),
});

export type BasicAuthFilterSettings = FilterResource<'basic_auth', BasicAuthOptions>;

export const BASIC_AUTH_DECLARATION = declareKind<BasicAuthFilterSettings>(BASIC_AUTH);
