/** What a client asked for, as answers name it. */
import type { HeaderMap } from '../../stream/header-map.ts';

/** The path is cut there. */
const PATH_LENGTH_MAX = 256;

export function originalUri(headers: HeaderMap, pathAsItCame: string): string {
  const { scheme, authority } = headers;
  const path = headers.get('x-envoy-original-path') ?? pathAsItCame;
  return `${scheme === '' ? 'http' : scheme}://${authority}${path.slice(0, PATH_LENGTH_MAX)}`;
}
