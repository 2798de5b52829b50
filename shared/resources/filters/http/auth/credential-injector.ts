/** Settings and stats of envoy.filters.http.credential_injector. */
import { defineTemplate } from '../../../../stats/template.ts';
import { counter } from '../../../../stats/templates/spec.ts';
import type { GenericSecret } from '../../../generic-secret.ts';
import { declareFilter, type FilterResource } from '../../declare-filter.ts';

export interface InjectedCredential {
  readonly secret: GenericSecret;
  /** In lower case. */
  readonly header: string;
  readonly prefix: string;
}

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

export type CredentialInjectorFilterSettings = FilterResource<
  'credential_injector',
  CredentialInjectorOptions
>;

export const CREDENTIAL_INJECTOR_DECLARATION =
  declareFilter<CredentialInjectorFilterSettings>(CREDENTIAL_INJECTOR);
