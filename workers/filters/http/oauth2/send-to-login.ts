/** Sends users to the authorization server, and away from it. */
import { QueryParameters } from '../../../../shared/text/query-parameters.ts';
import { urlEncode } from '../../../../shared/text/percent-encoding.ts';
import type { LocalReply } from '../../../stream/filter.ts';
import type { HeaderMap } from '../../../stream/header-map.ts';
import type { StreamInfo } from '../../../stream/stream-info.ts';
import { chunkDeletions } from './chunks.ts';
import type { Crypto, OAuth2Config } from './config.ts';
import { deletion, flowCookies, isFlowCookie } from './cookie-texts.ts';
import type { Session } from './session.ts';
import { challengeOf, makeFlowId, makeVerifier, seal, signNonce } from './token-crypto.ts';
import { isAllowedHost } from './urls.ts';

/** An answer that sends the client elsewhere. */
export function redirect(
  location: string,
  cookies: readonly string[],
  details: string,
): LocalReply {
  return {
    status: 302,
    body: '',
    details,
    modifyHeaders: (answer) => {
      for (const cookie of cookies) answer.add('set-cookie', cookie);
      answer.set('location', location);
    },
  };
}

/** The answer, or why there is none. */
export function loginRedirect(
  config: OAuth2Config,
  { hmacSecret, usesGcm }: Crypto,
  headers: HeaderMap,
  info: StreamInfo,
): LocalReply | string {
  const { options } = config;
  const { addresses, cookies } = options;
  const scheme = headers.scheme === 'http' ? 'http' : 'https';
  const base = config.originalUri?.(info) ?? `${scheme}://${headers.authority}`;
  if (!isAllowedHost(base, addresses.allowedDomains)) {
    return `authority or original_request_uri failed domain allow-list validation: ${base}`;
  }
  const redirectUri = config.redirectUri(info);
  if (!isAllowedHost(redirectUri, addresses.allowedDomains)) {
    return `redirect_uri failed domain allow-list validation: ${redirectUri}`;
  }
  const flowId = makeFlowId();
  const nonce = signNonce(flowId, hmacSecret);
  const verifier = makeVerifier();
  const parameters = new QueryParameters(addresses.authorizationQuery);
  parameters.set('state', stateOf(base + headers.path, nonce, flowId));
  parameters.set('redirect_uri', urlEncode(redirectUri));
  parameters.set('code_challenge', challengeOf(verifier));
  parameters.set('code_challenge_method', 'S256');
  const location = addresses.authorization + parameters.toQuery() + addresses.resources;
  const sealed = seal(verifier, hmacSecret, usesGcm);
  const texts = [
    ...flowCookies(cookies, cookies.nonce, flowId, {
      value: nonce,
      seconds: options.nonceExpirySeconds,
    }),
    ...flowCookies(cookies, cookies.verifier, flowId, {
      value: sealed,
      seconds: options.verifierExpirySeconds,
    }),
  ];
  return redirect(location, texts, 'oauth.missing_credentials');
}

function stateOf(url: string, nonce: string, flowId: string): string {
  const state = {
    url: Buffer.from(url, 'latin1').toString(),
    csrf_token: nonce,
    flow_id: flowId,
  };
  return Buffer.from(JSON.stringify(state)).toString('base64url');
}

export function signOut(
  config: OAuth2Config,
  session: Session,
  headers: HeaderMap,
  info: StreamInfo,
): LocalReply {
  const { cookies } = config.options;
  const { hmac, bearer, id, refresh, expires, nonce, verifier } = cookies;
  const texts = [hmac, bearer, id, refresh, expires].map((cookie) =>
    deletion(cookies, cookie, cookie.name),
  );
  for (const kind of ['bearer', 'id', 'refresh'] as const) {
    texts.push(...chunkDeletions(cookies, cookies[kind], 0, session.found(kind).chunks));
  }
  for (const name of session.names) {
    const cookie = [nonce, verifier].find((each) => isFlowCookie(name, each.name));
    if (cookie !== undefined) texts.push(deletion(cookies, cookie, name));
  }
  return redirect(afterSignOut(config, session, headers, info), texts, 'oauth.sign_out');
}

function afterSignOut(
  config: OAuth2Config,
  session: Session,
  headers: HeaderMap,
  info: StreamInfo,
): string {
  const { endSession, postLogoutFormat } = config.options.addresses;
  const firstPage = `${headers.scheme}://${headers.authority}/`;
  if (endSession === '') return firstPage;
  const hint = `id_token_hint=${session.token('id')}&client_id=${config.options.clientId}`;
  const location = `${endSession}?${hint}`;
  if (postLogoutFormat === undefined) return location;
  const target = config.postLogoutUri?.(info) ?? firstPage;
  return `${location}&post_logout_redirect_uri=${urlEncode(target)}`;
}
