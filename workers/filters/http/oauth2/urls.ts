/** Addresses that users are sent to. Texts have one character per byte. */
import { asciiLower } from '../../../../shared/text/ascii.ts';

// oxlint-disable-next-line no-control-regex -- Control characters are what is looked for.
const URL_SHAPE = /^[a-z][a-z\d+.-]*:\/\/([^\x00-\x20\x7f/?#\\@]+)([^\x00-\x20\x7f]*)$/i;
const ADDRESS = /^\[([^\]]*)\](?::\d*)?$|^([^:]*)(?::\d*)?$/;

/** With scheme and host, and nothing that could end a header. */
export function isUrl(text: string): boolean {
  return URL_SHAPE.test(text);
}

/** Path and query of a URL. */
export function pathOf(url: string): string {
  const rest = URL_SHAPE.exec(url)?.[2] ?? '';
  return rest.startsWith('/') ? rest : `/${rest}`;
}

/** Whether one of the domains, of which `*.` begins those with anything in front, has the host. */
export function isAllowedHost(url: string, domains: readonly string[]): boolean {
  if (domains.length === 0) return true;
  const authority = URL_SHAPE.exec(url)?.[1];
  if (authority === undefined) return false;
  const found = ADDRESS.exec(authority);
  const host = found?.[1] ?? found?.[2];
  if (host === undefined || host === '') return false;
  return domains.some((domain) => {
    if (!domain.startsWith('*.')) return asciiLower(host) === asciiLower(domain);
    const suffix = domain.slice(1);
    return host.endsWith(suffix) && host.length > suffix.length;
  });
}
