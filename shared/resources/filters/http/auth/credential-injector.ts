/** Settings and stats of envoy.filters.http.credential_injector. */
import { defineTemplate } from '../../../../stats/template.ts';
import { counter } from '../../../../stats/templates/spec.ts';
import type { GenericSecret } from '../../../generic-secret.ts';
import type { HttpTarget } from '../../../http-target.ts';
import { declareKind, type FilterResource } from '../../declare-filter.ts';

/** A secret that is the credential. */
export interface SecretCredential {
  readonly kind: 'secret';
  readonly secret: GenericSecret;
  /** In lower case. */
  readonly header: string;
  readonly prefix: string;
}

/** A token that a token server gives this proxy for its own credentials (RFC 6749, section 4.4). */
export interface TokenCredential {
  readonly kind: 'token';
  readonly endpoint: HttpTarget;
  /** The form but for the secret, which comes behind the client's name. */
  readonly formHead: string;
  readonly formTail: string;
  /** Absent where the client proves who it is by its certificate. */
  readonly secret?: GenericSecret;
  /** After a failure. */
  readonly retryMs: number;
}

export type InjectedCredential = SecretCredential | TokenCredential;

export interface CredentialInjectorOptions {
  /** What the client has sent is replaced. */
  readonly overwrite: boolean;
  readonly allowsMissing: boolean;
  readonly credential: InjectedCredential;
}

/** Prefix: `http.<stat_prefix>.credential_injector.` */
export const CREDENTIAL_INJECTOR = defineTemplate('credential_injector', {
  already_exists: counter('Requests that had a credential of their own'),
  failed: counter('Requests for which there was no credential'),
  injected: counter('Requests that were given the credential'),
});

/** Prefix: `http.<stat_prefix>.credential_injector.oauth2.` */
export const INJECTED_TOKEN = defineTemplate('injected_token', {
  token_fetch_failed_on_bad_response_code: counter('Answers of token servers other than 200'),
  token_fetch_failed_on_bad_token: counter('Answers of token servers without a usable token'),
  token_fetch_failed_on_client_secret: counter('Tokens not asked for: there is no secret'),
  token_fetch_failed_on_cluster_not_found: counter('Tokens not asked for: there is no cluster'),
  token_fetch_failed_on_stream_reset: counter('Token servers that did not answer'),
  token_fetched: counter('Tokens that were given'),
  token_requested: counter('Tokens that were asked for'),
});

export type CredentialInjectorFilterSettings = FilterResource<
  'credential_injector',
  CredentialInjectorOptions
>;

export const CREDENTIAL_INJECTOR_DECLARATION = declareKind<CredentialInjectorFilterSettings>(
  CREDENTIAL_INJECTOR,
  INJECTED_TOKEN,
);
