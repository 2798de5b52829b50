/** The cookies of the oauth2 filter: names, paths and attributes. */
import type {
  CookieConfig,
  OAuth2Config,
} from '../../../../../shared/api/generated/envoy/extensions/filters/http/oauth2/v3/oauth.ts';
import { toByteString } from '../../../../../shared/regex/byte-string.ts';
import type {
  CookieOptions,
  OAuth2Cookies,
} from '../../../../../shared/resources/filters/http/auth/oauth2.ts';
import { optional } from '../../../values.ts';

const SAME_SITE: ReadonlyMap<unknown, string> = new Map([
  ['STRICT', ';SameSite=Strict'],
  ['LAX', ';SameSite=Lax'],
  ['NONE', ';SameSite=None'],
]);
const CHUNK_BYTES = 4096;
const CHUNKS = 8;

export function resolveCookies(message: OAuth2Config): OAuth2Cookies {
  const { credentials = {}, cookie_configs: all = {}, token_cookie_chunking: chunking } = message;
  const { cookie_names: names = {}, cookie_domain: domain = '' } = credentials;
  return {
    bearer: cookie(names.bearer_token, 'BearerToken', all.bearer_token_cookie_config),
    hmac: cookie(names.oauth_hmac, 'OauthHMAC', all.oauth_hmac_cookie_config),
    expires: cookie(names.oauth_expires, 'OauthExpires', all.oauth_expires_cookie_config),
    id: cookie(names.id_token, 'IdToken', all.id_token_cookie_config),
    refresh: cookie(names.refresh_token, 'RefreshToken', all.refresh_token_cookie_config),
    nonce: cookie(names.oauth_nonce, 'OauthNonce', all.oauth_nonce_cookie_config),
    verifier: cookie(names.code_verifier, 'CodeVerifier', all.code_verifier_cookie_config),
    domain: toByteString(domain),
    ...optional(
      'chunks',
      chunking && {
        bytesMax: chunking.max_cookie_size ?? CHUNK_BYTES,
        countMax: chunking.max_chunks ?? CHUNKS,
      },
    ),
  };
}

function cookie(name = '', fallback: string, message: CookieConfig = {}): CookieOptions {
  const { path = '', same_site: sameSite, partitioned } = message;
  const partitionedText = partitioned === true ? ';Partitioned' : '';
  return {
    name: name === '' ? fallback : toByteString(name),
    path: path === '' ? '/' : toByteString(path),
    attributes: (SAME_SITE.get(sameSite) ?? '') + partitionedText,
  };
}
