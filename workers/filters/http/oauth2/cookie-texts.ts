/** `set-cookie` values of the oauth2 filter, with Envoy's order of attributes. */
import type {
  CookieOptions,
  OAuth2Cookies,
} from '../../../../shared/resources/filters/http/auth/oauth2.ts';

export interface CookieValue {
  readonly value: string;
  /** How long browsers keep it. */
  readonly seconds: number;
}

const OVER = 'expires=Thu, 01 Jan 1970 00:00:00 GMT';
/** Browsers refuse such cookies without `Secure`, also to delete them. */
const SECURE_NAME = /^__(?:Secure|Host)-/;

function domainOf({ domain }: OAuth2Cookies): string {
  return domain === '' ? '' : `;domain=${domain}`;
}

/** What stands behind the value. */
export function cookieTail(
  cookies: OAuth2Cookies,
  { path, attributes }: CookieOptions,
  seconds: number,
): string {
  const tail = `;path=${path};Max-Age=${seconds};secure;HttpOnly${attributes}`;
  return domainOf(cookies) + tail;
}

export function deletion(cookies: OAuth2Cookies, { path }: CookieOptions, name: string): string {
  const secure = SECURE_NAME.test(name) ? '; Secure' : '';
  return `${name}=deleted; path=${path}; ${OVER}${domainOf(cookies)}${secure}`;
}

/** Name of a cookie of one login. */
function flowName(name: string, flowId: string): string {
  return `${name}.${flowId}`;
}

export function isFlowCookie(name: string, base: string): boolean {
  return name === base || (name.startsWith(`${base}.`) && name.length > base.length + 1);
}

/** A login is over: its nonce and its verifier go. */
export function flowDeletions(cookies: OAuth2Cookies, flowId: string): readonly string[] {
  return [cookies.nonce, cookies.verifier].flatMap((cookie) => {
    const names = flowId === '' ? [cookie.name] : [flowName(cookie.name, flowId), cookie.name];
    return names.map((name) => deletion(cookies, cookie, name));
  });
}

/** The cookie of one login, and the one that older versions read. */
export function flowCookies(
  cookies: OAuth2Cookies,
  cookie: CookieOptions,
  flowId: string,
  { value, seconds }: CookieValue,
): readonly string[] {
  const tail = cookieTail(cookies, cookie, seconds);
  return [flowName(cookie.name, flowId), cookie.name].map((name) => `${name}=${value}${tail}`);
}
