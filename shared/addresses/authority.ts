/** Reads the authority of a request, `host` or `host:port`, as a name that can be looked up. */
import { isIPv6 } from './ip-text.ts';

const AUTHORITY = /^(?:\[([^\]]*)\]|([^:]*))(?::(\d{1,5}))?$/;
const PORT_MAX = 65_535;

export interface Authority {
  /** Without brackets. */
  readonly host: string;
  readonly port: number;
}

/** A bare IPv6 address has no port; text that is no authority at all is a name as it stands. */
export function parseAuthority(text: string, defaultPort: number): Authority {
  if (isIPv6(text)) return { host: text, port: defaultPort };
  const [, v6, name, digits] = AUTHORITY.exec(text) ?? [];
  const port = digits === undefined ? defaultPort : Number(digits);
  const host = v6 ?? name;
  return host === undefined || port > PORT_MAX ? { host: text, port: defaultPort } : { host, port };
}

/** `host:port`, with brackets around what has colons of its own. */
export function printAuthority({ host, port }: Authority): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}
