/** Reads what somebody asks about: a method, an address, headers, a client. */
import { isIP } from '../addresses/ip-text.ts';
import type { AskedRequest } from './explanation.ts';

/** As people and programs write it. */
export interface Question {
  readonly method?: string | undefined;
  /** `https://host:port/path?query`, or a path alone. */
  readonly url: string;
  /** `name: value`. */
  readonly headers: readonly string[];
  readonly client?: string | undefined;
  readonly listener?: string | undefined;
  /** `address:port` or a port: where the client connects to. */
  readonly to?: string | undefined;
  readonly serverName?: string | undefined;
  /** The TLS client's protocols, separated by commas. */
  readonly alpn?: string | undefined;
}

const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const ADDRESS = /^(https?):\/\/([^/?#]*)([^#]*)/i;
const DESTINATION = /^(?:(\[[^\]]+\]|[^:]*):)?(\d{1,5})$/;
const PORT_MAX = 65_535;
const DEFAULT_CLIENT = '127.0.0.1';

/** A text says what is wrong with the question. */
export function readQuestion(question: Question): AskedRequest | string {
  const { method = 'GET', client = DEFAULT_CLIENT, listener, serverName, alpn = '' } = question;
  if (!TOKEN.test(method)) return `${JSON.stringify(method)} is no method`;
  if (isIP(client) === 0) return `the client ${JSON.stringify(client)} is no IP address`;
  const all = readHeaders(question.headers);
  if (typeof all === 'string') return all;
  const headers = all.filter(([name]) => name !== 'host');
  const [, host] = all.findLast(([name]) => name === 'host') ?? [];
  const target = readTarget(question.url, host);
  if (typeof target === 'string') return target;
  const destination = question.to === undefined ? {} : readDestination(question.to);
  if (typeof destination === 'string') return destination;
  return {
    method,
    ...target,
    headers,
    clientIp: client,
    ...(listener !== undefined && { listener }),
    ...(serverName !== undefined && { serverName: byteText(serverName).toLowerCase() }),
    ...destination,
    applicationProtocols: alpn === '' ? [] : alpn.split(',').map((each) => byteText(each.trim())),
  };
}

type Header = [name: string, value: string];

function readHeaders(texts: readonly string[]): readonly Header[] | string {
  const all: Header[] = [];
  for (const text of texts) {
    const header = readHeader(text);
    if (typeof header === 'string') return header;
    all.push(header);
  }
  return all;
}

function readHeader(text: string): Header | string {
  const colon = text.indexOf(':', 1);
  const name = colon < 0 ? '' : text.slice(0, colon).trim();
  if (!TOKEN.test(name)) return `${JSON.stringify(text)} is no header: write "name: value"`;
  const value = byteText(text.slice(colon + 1).trim());
  if (hasControls(value)) return `the value of header ${name} has control characters`;
  return [name.toLowerCase(), value];
}

function readTarget(
  url: string,
  host: string | undefined,
): Pick<AskedRequest, 'scheme' | 'authority' | 'path'> | string {
  const isPath = url.startsWith('/') || url === '*';
  const [, word = 'http', named = '', rest = ''] =
    ADDRESS.exec(isPath ? `http://${url}` : url) ?? [];
  if (!isPath && named === '') {
    return `${JSON.stringify(url)} is no address: write http://host/path, or /path with a host header`;
  }
  const authority = byteText(host ?? withoutUser(named));
  const path = byteText(url === '*' ? '*' : rooted(rest));
  if (isOdd(path) || isOdd(authority)) return 'the address has blanks or control characters';
  return { scheme: word.toLowerCase() === 'https' ? 'https' : 'http', authority, path };
}

function isOdd(text: string): boolean {
  return hasControls(text) || /\s/.test(text);
}

function rooted(path: string): string {
  return path.startsWith('/') ? path : `/${path}`;
}

function withoutUser(authority: string): string {
  return authority.slice(authority.lastIndexOf('@') + 1);
}

function readDestination(text: string): Pick<AskedRequest, 'ip' | 'port'> | string {
  const [, ip, digits] = DESTINATION.exec(text) ?? [];
  const port = Number(digits);
  if (digits === undefined || port > PORT_MAX) {
    return `${JSON.stringify(text)} is neither a port nor address:port`;
  }
  const bare = ip?.replace(/^\[|\]$/g, '') ?? '';
  if (bare === '') return { port };
  return isIP(bare) === 0 ? `${JSON.stringify(bare)} is no IP address` : { ip: bare, port };
}

/** One character per byte of UTF-8, as from a socket. */
function byteText(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1');
}

function hasControls(text: string): boolean {
  // oxlint-disable-next-line no-control-regex -- they are what is looked for
  return /[\0-\x08\x0a-\x1f\x7f]/.test(text);
}
