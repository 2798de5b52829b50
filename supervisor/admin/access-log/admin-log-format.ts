/**
 * Lines of the admin's access log. The admin has no upstream, no route and no TLS, so that the
 * commands about those have no value and print `-`, as in Envoy.
 */
import { environmentVariable } from '../../../shared/process/environment.ts';
import { hostname } from 'node:os';
import type { AccessLogFormat } from '../../../shared/resources/access-log.ts';
import { localAddress } from '../../../shared/addresses/local-address.ts';
import { compileLogLine, cutTo, firstOf } from '../../../shared/substitution/compile-line.ts';
import type { FormatCommand } from '../../../shared/substitution/format.ts';
import { compileTimeFormat, makeIsoFormatter } from '../../../shared/substitution/strftime.ts';
import type { ValueReader } from '../../../shared/substitution/value.ts';
import type { AdminProtocol } from '../http/exchange.ts';

/** What is known of an answered request. */
export interface AdminLogEntry {
  /** Wall time of its first byte, Unix milliseconds. */
  readonly startMs: number;
  readonly durationMs: number;
  readonly protocol: AdminProtocol;
  /** Empty where the request could not be read; so is the path. */
  readonly method: string;
  /** Normalised, with its query. */
  readonly path: string;
  readonly status: number;
  /** Envoy's flags: `-` for none, `DPE` for a protocol error, `DC` for a client that left. */
  readonly flags: string;
  readonly bytesReceived: number;
  readonly bytesSent: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly remoteAddress: string;
  readonly remotePort: number;
  readonly localAddress: string;
  readonly localPort: number;
  /** Counted from 0. */
  readonly connectionId: number;
}

type Reader = ValueReader<AdminLogEntry>;

const READERS: Partial<Record<FormatCommand['name'], (command: FormatCommand) => Reader>> = {
  START_TIME: (command) => startTime(command, 'utc'),
  START_TIME_LOCAL: (command) => startTime(command, 'local'),
  DURATION: () => (entry) => entry.durationMs,
  PROTOCOL: () => (entry) => entry.protocol,
  RESPONSE_CODE: () => (entry) => entry.status,
  RESPONSE_CODE_DETAILS: () => (entry) =>
    entry.method === '' ? 'http1.codec_error' : 'admin_filter_response',
  CONNECTION_ID: () => (entry) => entry.connectionId,
  RESPONSE_FLAGS: () => (entry) => entry.flags,
  BYTES_RECEIVED: () => (entry) => entry.bytesReceived,
  BYTES_SENT: () => (entry) => entry.bytesSent,
  REQ: ({ args }) => headerReader(args),
  REQUEST_HEADER: ({ args }) => headerReader(args),
  HOSTNAME: () => () => hostname(),
  ENVIRONMENT:
    ({ args: [name = ''] }) =>
    () =>
      environmentVariable(name),
  COALESCE: ({ operators = [] }) => firstOf(operators.map(readerOf)),
  DOWNSTREAM_REMOTE_ADDRESS: () => (entry) => joined(entry.remoteAddress, entry.remotePort),
  DOWNSTREAM_REMOTE_ADDRESS_WITHOUT_PORT: () => (entry) => entry.remoteAddress,
  DOWNSTREAM_REMOTE_PORT: () => (entry) => entry.remotePort,
  DOWNSTREAM_DIRECT_REMOTE_ADDRESS: () => (entry) => joined(entry.remoteAddress, entry.remotePort),
  DOWNSTREAM_DIRECT_REMOTE_ADDRESS_WITHOUT_PORT: () => (entry) => entry.remoteAddress,
  DOWNSTREAM_LOCAL_ADDRESS: () => (entry) => joined(entry.localAddress, entry.localPort),
  DOWNSTREAM_LOCAL_ADDRESS_WITHOUT_PORT: () => (entry) => entry.localAddress,
  DOWNSTREAM_LOCAL_PORT: () => (entry) => entry.localPort,
};

const LOCAL_DEFAULT = '%Y-%m-%dT%H:%M:%E3S%z';

/** Lines as workers write theirs, of what the admin knows; anything else has no value there. */
export function compileAdminLogFormat(format: AccessLogFormat): (entry: AdminLogEntry) => string {
  return compileLogLine(format, readerOf);
}

function readerOf(command: FormatCommand): Reader {
  const make = Object.hasOwn(READERS, command.name) ? READERS[command.name] : undefined;
  return make === undefined ? () => undefined : cutTo(command.maxLength, make(command));
}

function startTime({ args: [format] }: FormatCommand, zone: 'utc' | 'local'): Reader {
  const byDefault = zone === 'local' ? LOCAL_DEFAULT : undefined;
  const pattern = format ?? byDefault;
  const print = pattern === undefined ? makeIsoFormatter() : compileTimeFormat(pattern, zone);
  return ({ startMs }) => print(startMs);
}

function headerReader(names: readonly string[]): Reader {
  return (entry) => {
    for (const name of names) {
      const value = headerOf(entry, name);
      if (value !== undefined && value !== '') return value;
    }
    return undefined;
  };
}

/** Undefined too where the request could not be read. `name` is in lower case. */
export function headerOf(entry: AdminLogEntry, name: string): string | undefined {
  if (entry.method === '') return undefined;
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
      return Object.hasOwn(entry.headers, name) ? entry.headers[name] : undefined;
  }
}

// The admin listener trusts nobody before it: the address of the client ends the list, or that of
// this machine for a client on it.
function forwardedFor({ headers, remoteAddress }: AdminLogEntry): string {
  const own = remoteAddress.startsWith('127.') || remoteAddress === '::1';
  const client = own ? localAddress(remoteAddress === '::1' ? 'v6' : 'v4') : remoteAddress;
  const given = headers['x-forwarded-for'];
  return given === undefined ? client : `${given},${client}`;
}

function joined(address: string, port: number): string {
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
}
