/**
 * Lines of the admin's access log. The admin has no upstream, no route and no TLS, so that the
 * commands about those have no value and print `-`, as in the reference.
 */
import type { FormatCommand } from '../../../shared/substitution/format.ts';
import { parseFormat } from '../../../shared/substitution/parse-format.ts';

/** What is known of an answered request. */
export interface AdminLogEntry {
  /** Wall time of its first byte, Unix milliseconds. */
  readonly startMs: number;
  readonly durationMs: number;
  readonly method: string;
  /** Normalised, with its query. */
  readonly path: string;
  readonly status: number;
  /** Of the reference: `-` for none, `DPE` for a protocol error, `DC` for a client that left. */
  readonly flags: string;
  readonly bytesReceived: number;
  readonly bytesSent: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly remoteAddress: string;
  readonly remotePort: number;
  readonly localAddress: string;
  readonly localPort: number;
}

/** The format cannot be used for the admin's own log. */
export class AdminLogFormatError extends Error {
  readonly code = 'admin_log_format';
}

const NO_VALUE = '-';

type Reader = (entry: AdminLogEntry) => string;

const READERS: Partial<Record<FormatCommand['name'], Reader>> = {
  START_TIME: ({ startMs }) => new Date(startMs).toISOString(),
  DURATION: ({ durationMs }) => String(durationMs),
  PROTOCOL: () => 'HTTP/1.1',
  RESPONSE_CODE: ({ status }) => String(status),
  RESPONSE_FLAGS: ({ flags }) => flags,
  BYTES_RECEIVED: ({ bytesReceived }) => String(bytesReceived),
  BYTES_SENT: ({ bytesSent }) => String(bytesSent),
  DOWNSTREAM_REMOTE_ADDRESS: (entry) => joined(entry.remoteAddress, entry.remotePort),
  DOWNSTREAM_REMOTE_ADDRESS_WITHOUT_PORT: ({ remoteAddress }) => remoteAddress,
  DOWNSTREAM_DIRECT_REMOTE_ADDRESS: (entry) => joined(entry.remoteAddress, entry.remotePort),
  DOWNSTREAM_DIRECT_REMOTE_ADDRESS_WITHOUT_PORT: ({ remoteAddress }) => remoteAddress,
  DOWNSTREAM_LOCAL_ADDRESS: (entry) => joined(entry.localAddress, entry.localPort),
  DOWNSTREAM_LOCAL_ADDRESS_WITHOUT_PORT: ({ localAddress }) => localAddress,
  DOWNSTREAM_LOCAL_PORT: ({ localPort }) => String(localPort),
};

/** Throws AdminLogFormatError, also for a format of its own in START_TIME. */
export function compileAdminLogFormat(text: string): (entry: AdminLogEntry) => string {
  const parsed = parseFormat(text);
  if (!parsed.ok) throw new AdminLogFormatError(parsed.error);
  const readers = parsed.format.parts.map(readerOf);
  return (entry) => readers.map((read) => read(entry)).join('');
}

function readerOf(part: string | FormatCommand): Reader {
  if (typeof part === 'string') return () => part;
  const isHeader = part.name === 'REQ' || part.name === 'REQUEST_HEADER';
  const read = isHeader ? headerReader(part.args) : READERS[part.name];
  if (part.name === 'START_TIME' && part.args.some((argument) => argument !== '')) {
    throw new AdminLogFormatError(
      "cannot write the admin's access log: START_TIME takes no format there",
    );
  }
  const { maxLength } = part;
  if (read === undefined) return () => NO_VALUE;
  return maxLength === undefined ? read : (entry) => read(entry).slice(0, maxLength);
}

function headerReader(names: readonly string[]): Reader {
  return (entry) => {
    for (const name of names) {
      const value = headerOf(entry, name);
      if (value !== undefined && value !== '') return value;
    }
    return NO_VALUE;
  };
}

function headerOf(entry: AdminLogEntry, name: string): string | undefined {
  switch (name) {
    case ':method':
      return entry.method;
    case ':path':
      return entry.path;
    case ':authority':
      return entry.headers['host'];
    case ':scheme':
      return 'http';
    case 'x-forwarded-for':
      return forwardedFor(entry);
    default:
      return entry.headers[name];
  }
}

// The admin listener trusts nobody before it: the address of the client ends the list.
function forwardedFor(entry: AdminLogEntry): string {
  const given = entry.headers['x-forwarded-for'];
  return given === undefined ? entry.remoteAddress : `${given},${entry.remoteAddress}`;
}

function joined(address: string, port: number): string {
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
}
