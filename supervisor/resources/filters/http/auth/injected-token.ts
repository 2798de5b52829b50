/** Resolves envoy.extensions.http.injected_credentials.oauth2.v3: tokens for the proxy itself. */
import type {
  OAuth2,
  OAuth2_ClientCredentials as CredentialsMessage,
} from '../../../../../shared/api/generated/envoy/extensions/http/injected_credentials/oauth2/v3/oauth2.ts';
import { toByteString } from '../../../../../shared/regex/byte-string.ts';
import type { TokenCredential } from '../../../../../shared/resources/filters/http/auth/credential-injector.ts';
import { urlEncode } from '../../../../../shared/text/percent-encoding.ts';
import { knownFields, refuseOtherFields } from '../../../fields.ts';
import { resolveGenericSecret } from '../../../generic-secret.ts';
import { resolveHttpTarget } from '../../../http-target.ts';
import type { Scope } from '../../../scope.ts';
import { durationMsOr, optional } from '../../../values.ts';

const FIELDS = knownFields<OAuth2>([
  'token_endpoint',
  'scopes',
  'client_credentials',
  'token_fetch_retry_interval',
  'endpoint_params',
]);
const CREDENTIAL_FIELDS = knownFields<CredentialsMessage>([
  'client_id',
  'client_secret',
  'auth_type',
]);
const RETRY_MS = 2000;

/** Undefined after a reported problem. */
export function resolveToken(message: OAuth2, scope: Scope): TokenCredential | undefined {
  refuseOtherFields(message, FIELDS, scope);
  const { client_credentials: credentials = {}, token_endpoint: endpoint = {} } = message;
  const { scopes = [], endpoint_params: params = [] } = message;
  const place = scope.at('client_credentials');
  refuseOtherFields(credentials, CREDENTIAL_FIELDS, place);
  const usesSecret = credentials.auth_type !== 'TLS_CLIENT_AUTH';
  const secret = usesSecret
    ? resolveGenericSecret(credentials.client_secret ?? {}, place.at('client_secret'))
    : undefined;
  if (usesSecret && secret === undefined) return undefined;
  const tail = [
    ...(scopes.length === 0 ? [] : [{ name: 'scope', value: scopes.join(' ') }]),
    ...params,
  ];
  return {
    kind: 'token',
    endpoint: resolveHttpTarget(endpoint, undefined, scope.at('token_endpoint')),
    formHead: `grant_type=client_credentials&client_id=${encoded(credentials.client_id)}`,
    formTail: tail.map(({ name, value }) => `&${encoded(name)}=${encoded(value)}`).join(''),
    ...optional('secret', secret),
    retryMs: durationMsOr(message.token_fetch_retry_interval, RETRY_MS),
  };
}

function encoded(text = ''): string {
  return urlEncode(toByteString(text));
}
