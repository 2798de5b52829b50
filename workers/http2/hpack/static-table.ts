/** The static table of HPACK (RFC 7541 appendix A). Index 1 is the first entry. */
import { headerName } from '../../stream/header-names.ts';

const ENTRIES = `:authority
:method GET
:method POST
:path /
:path /index.html
:scheme http
:scheme https
:status 200
:status 204
:status 206
:status 304
:status 400
:status 404
:status 500
accept-charset
accept-encoding gzip, deflate
accept-language
accept-ranges
accept
access-control-allow-origin
age
allow
authorization
cache-control
content-disposition
content-encoding
content-language
content-length
content-location
content-range
content-type
cookie
date
etag
expect
expires
from
host
if-match
if-modified-since
if-none-match
if-range
if-unmodified-since
last-modified
link
location
max-forwards
proxy-authenticate
proxy-authorization
range
referer
refresh
retry-after
server
set-cookie
strict-transport-security
transfer-encoding
user-agent
vary
via
www-authenticate`.split('\n');

/** By index; empty at 0. Names are the interned ones of the header map. */
export const STATIC_NAMES: readonly string[] = ['', ...ENTRIES.map((entry) => nameOf(entry))];
export const STATIC_VALUES: readonly string[] = ['', ...ENTRIES.map((entry) => valueOf(entry))];
export const STATIC_LENGTH = ENTRIES.length;

/** Index of the first entry with the name. */
export const STATIC_INDEX_OF_NAME: ReadonlyMap<string, number> = new Map(
  STATIC_NAMES.map((name, index) => [name, index] as const)
    .slice(1)
    .reverse(),
);

/** Index of the entry with name and value, by name and then by value. */
export const STATIC_INDEX_OF_VALUE: ReadonlyMap<string, ReadonlyMap<string, number>> = new Map(
  Array.from(STATIC_INDEX_OF_NAME.keys(), (name) => [name, valuesOfName(name)] as const).filter(
    ([, values]) => values.size > 0,
  ),
);

function valuesOfName(name: string): ReadonlyMap<string, number> {
  const indexes = STATIC_NAMES.flatMap((each, index) => (each === name ? [index] : []));
  return new Map(
    indexes
      .map((index) => [STATIC_VALUES[index] ?? '', index] as const)
      .filter(([value]) => value !== ''),
  );
}

/** A field as one text. No name holds a blank. */
export function fieldKey(name: string, value: string): string {
  return `${name} ${value}`;
}

function nameOf(entry: string): string {
  const name = entry.split(' ', 1)[0] ?? '';
  return name.startsWith(':') ? name : (headerName(name)?.name ?? name);
}

function valueOf(entry: string): string {
  return entry.slice(nameOf(entry).length + 1);
}
