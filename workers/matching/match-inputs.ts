/** Reads what matcher trees look at: parts of a request and facts of its connection. */
import type { MatchInput, PlainInput } from '../../shared/resources/routes/matcher-tree.ts';
import { metadataValue } from './metadata-value.ts';
import { queryValue } from '../stream/query.ts';
import type { HeaderMap } from '../stream/header-map.ts';
import { filterStateOf, type StreamInfo } from '../stream/stream-info.ts';
import { isLoopback } from '../net/client-address.ts';

/** Undefined: there is no such thing. A text is a byte string; metadata may be any JSON. */
export type InputReader = (headers: HeaderMap, info: StreamInfo) => unknown;

export function compileMatchInput(input: MatchInput): InputReader {
  switch (input.kind) {
    case 'request_header':
      return (headers) => headers.getAll(input.name);
    case 'request_trailer':
      return (_, info) => info.requestTrailers?.getAll(input.name);
    case 'response_header':
      return (_, info) => info.responseHeaders?.getAll(input.name);
    case 'response_trailer':
      return (_, info) => info.responseTrailers?.getAll(input.name);
    case 'attributes':
      return (_, info) => info;
    case 'query_parameter':
      return ({ path }) => {
        const mark = path.indexOf('?');
        return mark < 0 ? undefined : queryValue(path.slice(mark + 1), input.name);
      };
    case 'filter_state':
      return (_, info) => filterStateOf(info, input.key);
    case 'dynamic_metadata':
      return (_, info) => metadataValue(info.dynamicMetadata, input.namespace, input.path);
    case 'constant':
      return () => input.value;
    case 'status_code':
      return (_, { responseHeaders }) => responseHeaders && String(responseHeaders.status);
    case 'status_code_class':
      return (_, { responseHeaders }) => responseHeaders && statusClass(responseHeaders.status);
    default:
      return compileConnectionInput(input.kind);
  }
}

function compileConnectionInput(
  kind: Exclude<PlainInput, 'status_code' | 'status_code_class'>,
): InputReader {
  switch (kind) {
    case 'destination_ip':
      return (_, { connection }) => connection.localAddress.ip;
    case 'destination_port':
      return (_, { connection }) => String(connection.localAddress.port);
    case 'source_ip':
      return (_, info) => info.downstreamRemoteAddress.ip;
    case 'source_port':
      return (_, info) => String(info.downstreamRemoteAddress.port);
    case 'direct_source_ip':
      return (_, { connection }) => connection.directRemoteAddress.ip;
    case 'source_type':
      return (_, { connection: { remoteAddress, localAddress } }) =>
        isLoopback(remoteAddress.ip) || remoteAddress.ip === localAddress.ip ? 'local' : undefined;
    case 'server_name':
      return (_, { connection }) => connection.requestedServerName || undefined;
    case 'transport_protocol':
      return (_, { connection }) => connection.transportProtocol;
    case 'application_protocols':
      return (_, { connection: { applicationProtocols = [] } }) =>
        applicationProtocols.map((name) => `'${name}'`).join(',') || undefined;
    case 'uri_san':
      return (_, { connection }) => connection.tls?.peer?.uriSans.join(',') || undefined;
    case 'dns_san':
      return (_, { connection }) => connection.tls?.peer?.dnsSans.join(',') || undefined;
    case 'subject':
      return (_, { connection }) => connection.tls?.peer?.subject || undefined;
  }
}

function statusClass(status: number): string | undefined {
  return status >= 100 && status < 600 ? `${Math.trunc(status / 100)}xx` : undefined;
}
