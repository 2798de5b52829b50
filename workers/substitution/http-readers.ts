/**
 * Substitution commands about the messages themselves: headers, path, query, status, gRPC status.
 */
import { toByteString } from '../../shared/regex/byte-string.ts';
import type { FormatCommand } from '../../shared/substitution/format.ts';
import type { HeaderMap } from '../stream/header-map.ts';
import { RESPONSE_FLAG_NAMES, TCP_RESPONSE_FLAG_NAMES } from '../stream/response-flags.ts';
import type { StreamInfo } from '../stream/stream-info.ts';
import { shownServerName } from '../net/server-name.ts';
import { OTHER_VIRTUAL_CLUSTER } from '../stream/route.ts';
import { grpcStatusOf, GRPC_STATUS_NAMES } from '../stream/grpc-status.ts';
import { plain, present } from './reader-factory.ts';
import type { ReaderFactory, SubstitutionEnvironment } from './reader-factory.ts';
import type { Reader } from './reader-factory.ts';
import type { JsonValue } from '../../shared/substitution/value.ts';
import { xfccValue } from './xfcc.ts';

type MessageOf = (info: StreamInfo) => HeaderMap | undefined;

const requestHeader = header((info) => info.requestHeaders);
const responseHeader = header((info) => info.responseHeaders);
const responseTrailer = header((info) => info.responseTrailers);

export const HTTP_READERS = {
  REQ: requestHeader,
  REQUEST_HEADER: requestHeader,
  STREAM_INFO_REQ: requestHeader,
  REQ_WITHOUT_QUERY: headerWithoutQuery,
  RESP: responseHeader,
  RESPONSE_HEADER: responseHeader,
  TRAILER: responseTrailer,
  RESPONSE_TRAILER: responseTrailer,
  PATH: path,
  QUERY_PARAM: queryParameter,
  QUERY_PARAMS: plain((info) => present(queryOf(originalPath(info)))),
  PROTOCOL: plain((info) => info.protocol),
  UPSTREAM_PROTOCOL: plain((info) => info.upstreamProtocol),
  RESPONSE_CODE: plain((info) => info.responseCode),
  RESPONSE_CODE_DETAILS: responseCodeDetails,
  RESPONSE_FLAGS: plain((info) => flagNames(info, 1)),
  RESPONSE_FLAGS_LONG: plain((info) => flagNames(info, 2)),
  CUSTOM_FLAGS: plain(() => ''),
  GRPC_STATUS: grpcStatus,
  GRPC_STATUS_NUMBER: plain(grpcStatusOf),
  LOCAL_REPLY_BODY: plain((info) => info.localReplyBody),
  ROUTE_NAME: plain((info) => toByteString(info.routeName) || undefined),
  ROUTE_RESOLUTION_COUNT: plain((info) => (info.requestHeaders === undefined ? 0 : 1)),
  VIRTUAL_CLUSTER_NAME: plain(({ virtualClusterName: name }) =>
    name === '' || name === OTHER_VIRTUAL_CLUSTER ? undefined : toByteString(name),
  ),
  LISTENER_NAME: plain((info) => present(toByteString(info.connection.listenerName))),
  FILTER_CHAIN_NAME: plain((info) => present(toByteString(info.connection.filterChainName))),
  STREAM_ID: plain((info) => present(info.requestId)),
  REQUESTED_SERVER_NAME: requestedServerName,
  XFCC_VALUE: clientCertificateValue,
  ACCESS_LOG_TYPE: plain((info) => info.accessLogType),
} satisfies Record<string, ReaderFactory>;

function clientCertificateValue({ args: [key = ''] }: FormatCommand): Reader {
  return (info) => {
    const header = info.requestHeaders?.getAll('x-forwarded-client-cert');
    return header === undefined ? undefined : xfccValue(header, key);
  };
}

/** The first value of the first header that is there. */
function header(messageOf: MessageOf): ReaderFactory {
  return ({ args: [name = '', alternative] }) => {
    if (alternative === undefined) return (info) => messageOf(info)?.get(name);
    return (info) => {
      const headers = messageOf(info);
      return headers?.get(name) ?? headers?.get(alternative);
    };
  };
}

function headerWithoutQuery(command: FormatCommand, environment: SubstitutionEnvironment): Reader {
  const read = requestHeader(command, environment);
  return (info) => {
    const value = read(info);
    return typeof value === 'string' ? value.split('?', 1)[0] : value;
  };
}

function path({ args: [query = 'WQ', which = ''] }: FormatCommand): Reader {
  const source = which === 'PATH' ? currentPath : which === 'ORIG' ? firstPath : originalPath;
  if (query !== 'NQ') return (info) => present(source(info));
  return (info) => {
    const text = source(info);
    const mark = text.indexOf('?');
    return present(mark < 0 ? text : text.slice(0, mark));
  };
}

function currentPath(info: StreamInfo): string {
  return info.requestHeaders?.path ?? '';
}

function firstPath(info: StreamInfo): string {
  return info.requestHeaders?.get('x-envoy-original-path') ?? '';
}

/** The path as the client sent it. */
function originalPath(info: StreamInfo): string {
  return firstPath(info) || currentPath(info);
}

function queryOf(pathAndQuery: string): string {
  const mark = pathAndQuery.indexOf('?');
  return mark < 0 ? '' : pathAndQuery.slice(mark + 1);
}

function queryParameter({ args: [name = ''] }: FormatCommand): Reader {
  return (info) => {
    for (const pair of queryOf(originalPath(info)).split('&')) {
      const equals = pair.indexOf('=');
      const key = equals < 0 ? pair : pair.slice(0, equals);
      if (key === name) return equals < 0 ? '' : percentDecode(pair.slice(equals + 1));
    }
    return undefined;
  };
}

function percentDecode(text: string): string {
  if (!text.includes('%')) return text;
  return text.replace(/%([0-9a-f]{2})/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
}

/** An answer that was made without details has empty ones; what a host answers has none. */
function writtenDetails(info: StreamInfo): string | undefined {
  const { responseCode, responseCodeDetails: details, accessLogType } = info;
  return responseCode === 0 || accessLogType.startsWith('Upstream') ? present(details) : details;
}

function responseCodeDetails({ args }: FormatCommand): Reader {
  if (args[0] === 'ALLOW_WHITESPACES') return writtenDetails;
  return (info) => writtenDetails(info)?.replace(/\s/g, '_');
}

const flagTexts = new Map<string, string>();
const FLAG_TEXTS_KEPT = 1000;

/** `-` when there is none; each set of flags is put together once. */
function flagNames(info: StreamInfo, form: 1 | 2): string {
  const { responseFlags: flags, accessLogType } = info;
  if (flags === 0) return '-';
  const isConnection = accessLogType === 'NotSet' && info.requestHeaders === undefined;
  const isTcp = isConnection || accessLogType.startsWith('Tcp');
  const key = `${form}${isTcp ? 't' : 'h'}${flags}`;
  const known = flagTexts.get(key);
  if (known !== undefined) return known;
  const inOrder = isTcp ? TCP_RESPONSE_FLAG_NAMES : RESPONSE_FLAG_NAMES;
  const text = inOrder
    .filter(([bit]) => (flags & bit) !== 0)
    .map((names) => names[form])
    .join(',');
  if (flagTexts.size < FLAG_TEXTS_KEPT) flagTexts.set(key, text);
  return text;
}

function grpcStatus({ args: [form = 'CAMEL_STRING'] }: FormatCommand): Reader {
  if (form === 'NUMBER') return grpcStatusOf;
  return (info): JsonValue | undefined => {
    const status = grpcStatusOf(info);
    if (status === undefined) return undefined;
    const names = GRPC_STATUS_NAMES[status];
    if (names === undefined) return String(status);
    return form === 'SNAKE_STRING' ? names.snake : names.camel;
  };
}

function requestedServerName({ args: [order = 'SNI_ONLY', which = ''] }: FormatCommand): Reader {
  const sni: Reader = (info) => present(shownServerName(info.connection.requestedServerName));
  if (order === 'SNI_ONLY' || order === '') return sni;
  const host: Reader = (info) => {
    const headers = info.requestHeaders;
    const original = which === 'HOST' ? undefined : headers?.get('x-envoy-original-host');
    if (which === 'ORIG') return original;
    return original ?? present(headers?.authority);
  };
  return order === 'SNI_FIRST'
    ? (info) => sni(info) ?? host(info)
    : (info) => host(info) ?? sni(info);
}
