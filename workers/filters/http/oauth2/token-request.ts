/** The request for tokens: RFC 6749, and RFC 7523 where the client signs an assertion. */
import { createPrivateKey, randomUUID, sign } from 'node:crypto';
import type { ClientAuth } from '../../../../shared/resources/filters/http/auth/oauth2.ts';
import { encodeFormValue } from '../../../../shared/text/percent-encoding.ts';
import { HeaderMap } from '../../../stream/header-map.ts';
import type { Crypto, OAuth2Config } from './config.ts';

export type Grant =
  | {
      readonly kind: 'code';
      /** As the provider wrote it in the address. */
      readonly code: string;
      readonly redirectUri: string;
      readonly verifier: string;
    }
  | { readonly kind: 'refresh'; readonly token: string };

const ASSERTION_TYPE = 'urn%3Aietf%3Aparams%3Aoauth%3Aclient-assertion-type%3Ajwt-bearer';

interface TokenRequest {
  readonly headers: HeaderMap;
  readonly body: Buffer;
}

/** Undefined when no assertion can be signed: the secret is no key, or of another kind. */
export function makeTokenRequest(
  config: OAuth2Config,
  { clientSecret }: Crypto,
  grant: Grant,
  nowSeconds: number,
): TokenRequest | undefined {
  const { tokenEndpoint, auth, clientId } = config.options;
  const credentials = credentialsOf(auth, clientId, clientSecret, nowSeconds);
  if (credentials === undefined) return undefined;
  const body = Buffer.from(formOf(grant, credentials), 'latin1');
  const headers = postRequest(tokenEndpoint);
  if (auth.kind === 'basic') {
    const pair = Buffer.from(`${clientId}:${clientSecret}`, 'latin1').toString('base64');
    headers.add('authorization', `Basic ${pair}`);
  }
  headers.add('content-length', String(body.length));
  return { headers, body };
}

function postRequest(target: {
  readonly path: string;
  readonly authority: string;
  readonly scheme: string;
}): HeaderMap {
  const headers = new HeaderMap();
  headers.method = 'POST';
  headers.path = target.path;
  headers.authority = target.authority;
  headers.scheme = target.scheme;
  headers.add('content-type', 'application/x-www-form-urlencoded');
  headers.add('accept', 'application/json');
  return headers;
}

function formOf(grant: Grant, credentials: string): string {
  if (grant.kind === 'refresh') {
    return `grant_type=refresh_token&refresh_token=${encodeFormValue(grant.token)}${credentials}`;
  }
  const { code, redirectUri, verifier } = grant;
  const redirect = `&redirect_uri=${encodeFormValue(redirectUri)}`;
  const head = `grant_type=authorization_code&code=${code}${credentials}`;
  return `${head}${redirect}&code_verifier=${verifier}`;
}

/** Parameters of the form, with a separator before each. */
function credentialsOf(
  auth: ClientAuth,
  clientId: string,
  secret: string,
  nowSeconds: number,
): string | undefined {
  const client = `&client_id=${encodeFormValue(clientId)}`;
  switch (auth.kind) {
    case 'basic':
      return '';
    case 'tls':
      return client;
    case 'body':
      return `${client}&client_secret=${encodeFormValue(secret)}`;
    case 'assertion': {
      const assertion = signAssertion(auth, clientId, secret, nowSeconds);
      if (assertion === undefined) return undefined;
      return `${client}&client_assertion_type=${ASSERTION_TYPE}&client_assertion=${assertion}`;
    }
  }
}

function signAssertion(
  { algorithm, lifetimeSeconds, audience }: Extract<ClientAuth, { readonly kind: 'assertion' }>,
  clientId: string,
  pem: string,
  nowSeconds: number,
): string | undefined {
  const now = Math.floor(nowSeconds);
  const client = Buffer.from(clientId, 'latin1').toString();
  const claims = {
    iss: client,
    sub: client,
    aud: audience,
    exp: now + lifetimeSeconds,
    iat: now,
    nbf: now,
    jti: randomUUID(),
  };
  const head = JSON.stringify({ alg: algorithm, typ: 'JWT' });
  const signed = [head, JSON.stringify(claims)]
    .map((part) => Buffer.from(part).toString('base64url'))
    .join('.');
  const signature = signText(signed, algorithm, pem);
  return signature && `${signed}.${signature.toString('base64url')}`;
}

function signText(text: string, algorithm: string, pem: string): Buffer | undefined {
  try {
    const key = createPrivateKey(pem);
    const isRsa = algorithm.startsWith('RS');
    if (key.asymmetricKeyType !== (isRsa ? 'rsa' : 'ec')) return undefined;
    const hash = `sha${algorithm.slice(2)}`;
    return sign(hash, Buffer.from(text), { key, dsaEncoding: 'ieee-p1363' });
  } catch {
    return undefined;
  }
}
