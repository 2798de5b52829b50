/** Checks what the authorization server sends a user back with (RFC 6749, section 4.1.2). */
import { readStruct } from '../../../../shared/text/read-struct.ts';
import { decodeWebBase64 } from '../../../../shared/jwt/web-base64.ts';
import { QueryParameters } from '../../../../shared/text/query-parameters.ts';
import type { Crypto, OAuth2Config } from './config.ts';
import type { Session } from './session.ts';
import { isAllowedHost, pathOf, isUrl } from './urls.ts';
import { isNonceSigned, isSame } from './token-crypto.ts';

export interface Callback {
  readonly code: string;
  /** Where the user wanted to go. */
  readonly originalUrl: string;
  readonly flowId: string;
}

export interface BadCallback {
  readonly problem: string;
  /** Empty while it cannot be trusted. */
  readonly flowId: string;
}

type State = Omit<Callback, 'code'>;

export function readCallback(
  config: OAuth2Config,
  { hmacSecret }: Crypto,
  session: Session,
  path: string,
): Callback | BadCallback {
  const parameters = new QueryParameters(path);
  const [code, stateText] = [parameters.get('code'), parameters.get('state')];
  const read = (text: string): State | BadCallback => readState(config, hmacSecret, session, text);
  if (parameters.get('error') !== undefined) {
    const flowId = stateText === undefined ? '' : read(stateText).flowId;
    return { problem: `OAuth server returned an error: ${parameters.toQuery()}`, flowId };
  }
  if (code === undefined || stateText === undefined) {
    const problem = `Code or state query param does not exist: ${parameters.toQuery()}`;
    return { problem, flowId: '' };
  }
  return { ...read(stateText), code };
}

function readState(
  { options }: OAuth2Config,
  secret: string,
  session: Session,
  text: string,
): State | BadCallback {
  const { cookies, addresses } = options;
  const bytes = decodeState(text);
  const shown = bytes.toString('latin1');
  const state = readStruct(bytes);
  if (state === undefined) {
    return { problem: `State query param is not a valid JSON: ${shown}`, flowId: '' };
  }
  const { url, csrf_token: nonce, flow_id: flow } = state;
  if (url === undefined || nonce === undefined) {
    const problem = `State query param does not contain url or CSRF token: ${shown}`;
    return { problem, flowId: '' };
  }
  const flowId = textOf(flow);
  const expected = session.flowCookie(cookies.nonce.name, flowId);
  const given = textOf(nonce);
  if (expected === '' || !isSame(expected, given) || !isNonceSigned(given, secret)) {
    return { problem: 'CSRF token validation failed', flowId: '' };
  }
  const originalUrl = textOf(url);
  if (!isUrl(originalUrl)) {
    return { problem: `State url can not be initialized: ${originalUrl}`, flowId };
  }
  if (!isAllowedHost(originalUrl, addresses.allowedDomains)) {
    const problem = `State url host is not in the allowed redirect domains: ${originalUrl}`;
    return { problem, flowId };
  }
  return { originalUrl, flowId };
}

/** A user who is sent to the callback after a login would never leave it. */
export function isLoop(config: OAuth2Config, { originalUrl }: Callback): boolean {
  return config.isCallback(pathOf(originalUrl));
}

/** Empty for what is no Base64 in its shortest form. */
function decodeState(text: string): Buffer {
  const bytes = decodeWebBase64(text);
  if (bytes === undefined || bytes.toString('base64url') !== text.replace(/=+$/, '')) {
    return Buffer.alloc(0);
  }
  return bytes;
}

/** One character per byte; empty for what is no text. */
function textOf(value: unknown): string {
  return typeof value === 'string' ? Buffer.from(value).toString('latin1') : '';
}
