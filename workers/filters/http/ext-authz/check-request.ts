/** Writes envoy.service.auth.v3.CheckRequest: what a gRPC service is told of a request. */
import type { ExtAuthzOptions } from '../../../../shared/resources/filters/http/ext-authz.ts';
import type { Dictionary, Struct } from '../../../../shared/text/dictionary.ts';
import { ProtoWriter } from '../../../../shared/protobuf/proto-writer.ts';
import {
  knownMetadata,
  typedMetadataOf,
  writeDestination,
  writeMap,
  writeMetadata,
  writeSource,
  writeTlsSession,
} from '../../common/check-attributes.ts';
import { repairUtf8 } from '../../../tap/repair-utf8.ts';
import type { CheckedRequest } from './check.ts';
import { type NamePredicate, visitAsked } from './asked-headers.ts';

const PARTIAL = 'x-envoy-auth-partial-body';
const PSEUDO = [':authority', ':method', ':path', ':scheme'] as const;

export interface CheckFacts {
  readonly options: ExtAuthzOptions;
  readonly asks: NamePredicate;
  /** The labels of this side. */
  readonly labels: Dictionary<string>;
}

export function writeCheckRequest(request: CheckedRequest, facts: CheckFacts): Buffer {
  const { info, headers } = request;
  const { options, labels } = facts;
  const writer = new ProtoWriter();
  writer.message(1, () => {
    const service = headers.get('x-envoy-downstream-service-cluster') ?? '';
    const { includesPeerCertificate } = options;
    writeSource(writer, info, { includesPeerCertificate, service });
    writeDestination(writer, info.connection, labels);
    writer.message(4, () => {
      writer.message(1, () => writeTime(writer, info.startWallMs));
      writer.message(2, () => writeHttp(writer, request, facts));
    });
    writeMap(writer, 10, request.contextExtensions);
    const { metadataNamespaces: names, routeMetadataNamespaces: ofRoute } = options;
    const { route } = request;
    const typed = typedMetadataOf(info, options.typedMetadataNamespaces);
    writeMetadata(writer, 11, { names, find: (name) => knownMetadata(info, name), typed });
    if (options.includesTlsSession) writeTlsSession(writer, info.connection);
    const find = (name: string): Struct | undefined =>
      Object.hasOwn(route?.metadata ?? {}, name) ? route?.metadata?.[name] : undefined;
    writeMetadata(writer, 13, { names: ofRoute, find });
  });
  return writer.finish();
}

function writeTime(writer: ProtoWriter, ms: number): void {
  const seconds = Math.floor(ms / 1000);
  writer.integer(1, seconds);
  writer.integer(2, Math.floor((ms - seconds * 1000) * 1e6));
}

function writeHttp(writer: ProtoWriter, request: CheckedRequest, facts: CheckFacts): void {
  const { headers, info, body } = request;
  const { sendsRawHeaders } = facts.options;
  writer.text(1, randomId());
  writer.text(2, valid(headers.method));
  if (sendsRawHeaders) writer.message(13, () => visitAll(request, facts, rawEntry(writer)));
  else visitAll(request, facts, entry(writer, 3));
  writer.text(4, valid(headers.path));
  writer.text(5, valid(headers.authority));
  writer.text(6, valid(headers.scheme));
  writer.integer(9, info.bytesReceived);
  writer.text(10, info.protocol ?? '');
  if (body === undefined) return;
  if (body.asBytes) writer.bytes(12, body.bytes);
  else writer.text(11, valid(body.bytes.toString('latin1')));
}

type Visit = (name: string, value: string) => void;

function visitAll(
  { headers, body }: CheckedRequest,
  { asks, options }: CheckFacts,
  visit: Visit,
): void {
  for (const name of PSEUDO) {
    const value = headers.get(name);
    if (value !== undefined && asks(name)) visit(name, valid(value));
  }
  visitAsked(headers, asks, options.sendsRawHeaders, visit);
  if (body !== undefined) visit(PARTIAL, String(body.isPartial));
}

/** Writes an entry of a map of texts. */
function entry(writer: ProtoWriter, field: number): Visit {
  return (name, value) => writer.textPair(field, name, value);
}

/** Writes an entry of envoy.config.core.v3.HeaderMap, whose values are bytes. */
function rawEntry(writer: ProtoWriter): Visit {
  return (name, value) => {
    writer.message(1, () => {
      writer.text(1, name);
      writer.bytes(3, Buffer.from(value, 'latin1'));
    });
  };
}

/** A number of 19 digits, which fits 64 bits and names the check in the logs of its service. */
function randomId(): string {
  const digits = (from: number): number => Math.floor(from * (1 + 9 * Math.random()));
  return `${digits(1e8)}${digits(1e9)}`;
}

/** Texts of a message are UTF-8. */
function valid(text: string): string {
  return repairUtf8(text, '!');
}
