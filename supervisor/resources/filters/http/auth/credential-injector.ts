/** Resolves envoy.extensions.filters.http.credential_injector.v3 with a generic credential. */
import type { CredentialInjector } from '../../../../../shared/api/generated/envoy/extensions/filters/http/credential_injector/v3/credential_injector.ts';
import type { Generic } from '../../../../../shared/api/generated/envoy/extensions/http/injected_credentials/generic/v3/generic.ts';
import { toByteString } from '../../../../../shared/regex/byte-string.ts';
import type {
  CredentialInjectorFilterSettings,
  InjectedCredential,
  SecretCredential,
} from '../../../../../shared/resources/filters/http/auth/credential-injector.ts';
import { extension, ExtensionRegistry } from '../../../extensions.ts';
import { knownFields, refuseOtherFields } from '../../../fields.ts';
import { resolveGenericSecret } from '../../../generic-secret.ts';
import { asciiLower } from '../../../matchers/string-matcher.ts';
import type { Scope } from '../../../scope.ts';
import { httpFilter } from '../../http-filter-row.ts';
import { resolveToken } from './injected-token.ts';

const FIELDS = knownFields<CredentialInjector>([
  'overwrite',
  'allow_request_without_credential',
  'credential',
]);
const GENERIC_FIELDS = knownFields<Generic>(['credential', 'header', 'header_value_prefix']);

export const INJECTED_CREDENTIALS = new ExtensionRegistry<InjectedCredential>(
  'envoy.http.injected_credentials',
  'injected credential',
  {
    secret: extension(
      'envoy.http.injected_credentials.generic',
      'envoy.extensions.http.injected_credentials.generic.v3.Generic',
      resolveGeneric,
    ),
    token: extension(
      'envoy.http.injected_credentials.oauth2',
      'envoy.extensions.http.injected_credentials.oauth2.v3.OAuth2',
      resolveToken,
    ),
  },
);

export const CREDENTIAL_INJECTOR_FILTER = httpFilter(
  'envoy.filters.http.credential_injector',
  'envoy.extensions.filters.http.credential_injector.v3.CredentialInjector',
  (message: CredentialInjector, scope, name): CredentialInjectorFilterSettings | undefined => {
    refuseOtherFields(message, FIELDS, scope);
    const place = scope.at('credential');
    const credential =
      message.credential && INJECTED_CREDENTIALS.resolve(message.credential, place);
    if (credential === undefined) return undefined;
    const options = {
      overwrite: message.overwrite ?? false,
      allowsMissing: message.allow_request_without_credential ?? false,
      credential,
    };
    return { kind: 'credential_injector', name, options };
  },
);

function resolveGeneric(message: Generic, scope: Scope): SecretCredential | undefined {
  refuseOtherFields(message, GENERIC_FIELDS, scope);
  const { credential, header = '', header_value_prefix: prefix = '' } = message;
  const secret = credential && resolveGenericSecret(credential, scope.at('credential'));
  if (secret === undefined) return undefined;
  return {
    kind: 'secret',
    secret,
    header: header === '' ? 'authorization' : asciiLower(header),
    prefix: toByteString(prefix),
  };
}
