/**
 * Reads what matcher trees look at, parts of a request and of what is known of its connection: one
 * row per input.
 */
import { KindTable } from '../../shared/resources/by-kind.ts';
import type { MatchInput } from '../../shared/resources/routes/matcher-tree.ts';
import { metadataValue } from './metadata-value.ts';
import { queryValue } from '../stream/query.ts';
import type { HeaderMap } from '../stream/header-map.ts';
import { filterStateOf, type StreamInfo } from '../stream/stream-info.ts';
import type { ConnectionInfo } from '../net/connection-info.ts';
import { isLoopback } from '../net/client-address.ts';

/** Undefined: there is no such thing. A text is a byte string; metadata may be any JSON. */
export type InputReader = (headers: HeaderMap, info: StreamInfo) => unknown;

const INPUTS = new KindTable<MatchInput, [], InputReader>({
  request_header:
    ({ name }) =>
    (headers) =>
      headers.getAll(name),
  request_trailer:
    ({ name }) =>
    (_, info) =>
      info.requestTrailers?.getAll(name),
  response_header:
    ({ name }) =>
    (_, info) =>
      info.responseHeaders?.getAll(name),
  response_trailer:
    ({ name }) =>
    (_, info) =>
      info.responseTrailers?.getAll(name),
  attributes: () => (_, info) => info,
  query_parameter:
    ({ name }) =>
    ({ path }) => {
      const mark = path.indexOf('?');
      return mark < 0 ? undefined : queryValue(path.slice(mark + 1), name);
    },
  filter_state:
    ({ key }) =>
    (_, info) =>
      filterStateOf(info, key),
  dynamic_metadata:
    ({ namespace, path }) =>
    (_, info) =>
      metadataValue(info.dynamicMetadata, namespace, path),
  constant:
    ({ value }) =>
    () =>
      value,
  status_code:
    () =>
    (_, { responseHeaders }) =>
      responseHeaders && String(responseHeaders.status),
  status_code_class:
    () =>
    (_, { responseHeaders }) =>
      responseHeaders && statusClass(responseHeaders.status),
  local_reply:
    () =>
    (_, { responseHeaders, responseCodeDetails }) =>
      responseHeaders && String(responseCodeDetails !== 'via_upstream'),
  destination_ip: () => ofConnection(({ localAddress }) => localAddress.ip),
  destination_port: () => ofConnection(({ localAddress }) => String(localAddress.port)),
  source_ip: () => (_, info) => info.downstreamRemoteAddress.ip,
  source_port: () => (_, info) => String(info.downstreamRemoteAddress.port),
  direct_source_ip: () => ofConnection(({ directRemoteAddress }) => directRemoteAddress.ip),
  source_type: () =>
    ofConnection(({ remoteAddress, localAddress }) =>
      isLoopback(remoteAddress.ip) || remoteAddress.ip === localAddress.ip ? 'local' : undefined,
    ),
  network_namespace: () => () => undefined,
  server_name: () => ofConnection(({ requestedServerName }) => requestedServerName || undefined),
  transport_protocol: () => ofConnection(({ transportProtocol }) => transportProtocol),
  application_protocols: () =>
    ofConnection(
      ({ applicationProtocols = [] }) =>
        applicationProtocols.map((name) => `'${name}'`).join(',') || undefined,
    ),
  uri_san: () => ofConnection(({ tls }) => tls?.peer?.uriSans.join(',') || undefined),
  dns_san: () => ofConnection(({ tls }) => tls?.peer?.dnsSans.join(',') || undefined),
  subject: () => ofConnection(({ tls }) => tls?.peer?.subject || undefined),
});

export function compileMatchInput(input: MatchInput): InputReader {
  return INPUTS.make(input);
}

function ofConnection(read: (connection: ConnectionInfo) => string | undefined): InputReader {
  return (_, { connection }) => read(connection);
}

function statusClass(status: number): string | undefined {
  return status >= 100 && status < 600 ? `${Math.trunc(status / 100)}xx` : undefined;
}
