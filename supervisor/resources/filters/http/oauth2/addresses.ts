/** Where the oauth2 filter sends users: the addresses of its configuration. */
import type { OAuth2Config } from '../../../../../shared/api/generated/envoy/extensions/filters/http/oauth2/v3/oauth.ts';
import { toByteString } from '../../../../../shared/regex/byte-string.ts';
import type { OAuth2Addresses } from '../../../../../shared/resources/filters/http/auth/oauth2.ts';
import { urlEncode } from '../../../../../shared/text/percent-encoding.ts';
import { QueryParameters } from '../../../../../shared/text/query-parameters.ts';
import { checkFormat } from '../../../access-logs/format.ts';
import { isAbsoluteUri } from '../../../http-target.ts';
import type { Scope } from '../../../scope.ts';
import { optional } from '../../../values.ts';

const DEFAULT_SCOPE = 'user';
const OPEN_ID = 'openid';

/** Undefined after a reported problem. */
export function resolveAddresses(message: OAuth2Config, scope: Scope): OAuth2Addresses | undefined {
  const { authorization_endpoint: endpoint = '', end_session_endpoint: endSession = '' } = message;
  const { auth_scopes: scopes = [] } = message;
  const place = scope.at('authorization_endpoint');
  if (!isAbsoluteUri(endpoint)) {
    const text = `OAuth2 filter: invalid authorization endpoint URL '${endpoint}' in config.`;
    place.error('conflict', text);
    return undefined;
  }
  if (endSession !== '' && !scopes.includes(OPEN_ID)) {
    const text = 'OAuth2 filter: end session endpoint is only supported for OpenID Connect.';
    scope.at('end_session_endpoint').error('conflict', text);
    return undefined;
  }
  const original = message.original_request_uri ?? '';
  return {
    ...resolveAuthorization(toByteString(endpoint), message),
    redirectFormat: checkFormat(message.redirect_uri ?? '', scope.at('redirect_uri')),
    originalFormat: original && checkFormat(original, scope.at('original_request_uri')),
    endSession: toByteString(endSession),
    ...optional('postLogoutFormat', resolvePostLogout(message, scope)),
    allowedDomains: (message.allowed_redirect_domains ?? []).map(toByteString),
  };
}

function resolveAuthorization(
  endpoint: string,
  message: OAuth2Config,
): Pick<OAuth2Addresses, 'authorization' | 'authorizationQuery' | 'resources'> {
  const { auth_scopes: scopes = [], credentials = {}, resources = [] } = message;
  const mark = endpoint.indexOf('?');
  const parameters = new QueryParameters(mark < 0 ? '' : endpoint.slice(mark));
  const scopeText = scopes.length === 0 ? DEFAULT_SCOPE : scopes.join(' ');
  parameters.set('client_id', toByteString(credentials.client_id ?? ''));
  parameters.set('response_type', 'code');
  parameters.set('scope', urlEncode(toByteString(scopeText)));
  return {
    authorization: mark < 0 ? endpoint : endpoint.slice(0, mark),
    authorizationQuery: parameters.toQuery(),
    resources: resources.map((each) => `&resource=${urlEncode(toByteString(each))}`).join(''),
  };
}

/** Undefined where the provider is not told. */
function resolvePostLogout(
  { post_logout_redirect_uri: message = {} }: OAuth2Config,
  scope: Scope,
): string | undefined {
  if (message.disabled === true) return undefined;
  const place = scope.at('post_logout_redirect_uri', 'uri');
  return message.uri === undefined ? '' : checkFormat(message.uri, place);
}
