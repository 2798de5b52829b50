/**
 * What envoy.service.auth.v3.AttributeContext says of a connection, for checks of requests and of
 * whole connections.
 */
import {
  type Dictionary,
  dictionary,
  memberOf,
  type Struct,
} from '../../../shared/text/dictionary.ts';
import type { Address, CertificateInfo, ConnectionInfo } from '../../net/connection-info.ts';
import type { ProtoWriter } from '../../../shared/protobuf/proto-writer.ts';
import { writeStruct } from '../../../shared/protobuf/struct-message.ts';
import type { StreamInfo } from '../../stream/stream-info.ts';
import { repairUtf8 } from '../../tap/repair-utf8.ts';

export interface SourceFacts {
  readonly includesPeerCertificate: boolean;
  /** What the client calls itself, a byte in each character. */
  readonly service: string;
}

export function writeSource(
  writer: ProtoWriter,
  info: StreamInfo,
  { includesPeerCertificate, service }: SourceFacts,
): void {
  const { tls } = info.connection;
  writer.message(1, () => {
    writer.message(1, () => writeAddress(writer, info.downstreamRemoteAddress));
    writer.text(2, repairUtf8(service, '!'));
    writer.utf8(4, principalOf(tls?.peer));
    if (includesPeerCertificate && tls?.peer !== undefined) {
      writer.utf8(5, encodeURIComponent(tls.peer.pem));
    }
  });
}

export function writeDestination(
  writer: ProtoWriter,
  { localAddress, tls }: ConnectionInfo,
  labels: Dictionary<string>,
): void {
  writer.message(2, () => {
    writer.message(1, () => writeAddress(writer, localAddress));
    writeMap(writer, 3, labels);
    writer.utf8(4, principalOf(tls?.local));
  });
}

/** The certificate's first name: of a URI, else of DNS, else its subject. */
function principalOf(certificate: CertificateInfo | undefined): string {
  if (certificate === undefined) return '';
  return certificate.uriSans[0] ?? certificate.dnsSans[0] ?? certificate.subject;
}

function writeAddress(writer: ProtoWriter, { kind, ip, port }: Address): void {
  if (kind === 'pipe') {
    writer.message(2, () => writer.utf8(1, ip));
    return;
  }
  writer.message(1, () => {
    writer.utf8(2, ip);
    writer.integer(3, port);
  });
}

export function writeTlsSession(
  writer: ProtoWriter,
  { tls, requestedServerName }: ConnectionInfo,
): void {
  if (tls !== undefined) writer.message(12, () => writer.text(1, requestedServerName));
}

/** Members of the node's metadata under that key; those that are no text are empty. */
export function labelsOf(nodeMetadata: Struct, key: string): Dictionary<string> {
  const members = key === '' ? undefined : memberOf(nodeMetadata, key);
  return dictionary(
    Object.entries(typeof members === 'object' ? (members ?? {}) : {}).map(([name, value]) => [
      name,
      typeof value === 'string' ? value : '',
    ]),
  );
}

export function writeMap(writer: ProtoWriter, field: number, map: Dictionary<string>): void {
  for (const [key, value] of Object.entries(map)) {
    writer.message(field, () => {
      writer.utf8(1, key);
      writer.utf8(2, value);
    });
  }
}

/** Metadata of the stream, else of its connection. */
export function knownMetadata(info: StreamInfo, name: string): Struct | undefined {
  return info.dynamicMetadata?.get(name) ?? info.connection.dynamicMetadata?.get(name);
}

type TypedMetadata = readonly (readonly [name: string, any: Uint8Array])[];

export interface SentMetadata {
  readonly names: readonly string[];
  readonly find: (name: string) => Struct | undefined;
  readonly typed?: TypedMetadata;
}

/** envoy.config.core.v3.Metadata, also with nothing in it. */
export function writeMetadata(
  writer: ProtoWriter,
  field: number,
  { names, find, typed = [] }: SentMetadata,
): void {
  writer.message(field, () => {
    for (const name of names) {
      const struct = find(name);
      if (struct === undefined) continue;
      writer.message(1, () => {
        writer.utf8(1, name);
        writeStruct(writer, 2, struct);
      });
    }
    for (const [name, any] of typed) writeTyped(writer, 2, name, any);
  });
}

/** An entry of a map of google.protobuf.Any. */
export function writeTyped(
  writer: ProtoWriter,
  field: number,
  name: string,
  any: Uint8Array,
): void {
  writer.message(field, () => {
    writer.utf8(1, name);
    writer.bytes(2, any);
  });
}

/** Those of the stream's typed metadata that have these names. */
export function typedMetadataOf(
  { typedMetadata: known }: StreamInfo,
  names: readonly string[],
): TypedMetadata {
  if (known === undefined || names.length === 0) return [];
  return names.flatMap((name) => {
    const any = known.get(name);
    return any === undefined ? [] : [[name, any] as const];
  });
}
