/** What messages say of their encoding. */
import type { HeaderMap } from '../../../stream/header-map.ts';
import { hasToken } from '../../common/header-tokens.ts';

export function announce(headers: HeaderMap, encoding: string): void {
  headers.remove('content-length');
  headers.set('content-encoding', encoding);
}

export function addVary(headers: HeaderMap): void {
  const vary = headers.get('vary');
  if (vary === undefined) headers.add('vary', 'Accept-Encoding');
  else if (!hasToken(vary, 'accept-encoding')) headers.set('vary', `${vary}, Accept-Encoding`);
}

const SWITCHING_PROTOCOLS = 101;

export function isSwitch(headers: HeaderMap): boolean {
  return headers.status === SWITCHING_PROTOCOLS;
}
