/** Spans as Zipkin collectors take them: JSON of version 2, or protobuf (zipkin.proto of openzipkin). */
import { ipv6Groups } from '../../../shared/addresses/ip-groups.ts';
import { ProtoWriter } from '../../../shared/protobuf/proto-writer.ts';
import type { SpanTags } from '../span.ts';

/** A span that is over. Texts have one character per byte, ids are hexadecimal digits. */
export interface ZipkinRecord {
  readonly traceId: string;
  /** Empty: none. */
  readonly parentId: string;
  readonly id: string;
  readonly isClient: boolean;
  readonly name: string;
  /** In microseconds since 1970. */
  readonly timestamp: number;
  readonly duration: number;
  readonly isShared: boolean;
  readonly annotations: readonly { readonly timestamp: number; readonly value: string }[];
  readonly tags: SpanTags;
}

/** Who made the spans. */
export interface ZipkinEndpoint {
  readonly serviceName: string;
  readonly ip: string;
}

export interface ZipkinFormat {
  readonly contentType: string;
  encode(record: ZipkinRecord, endpoint: ZipkinEndpoint): Buffer;
  /** The body of a report. */
  join(spans: readonly Buffer[]): Buffer;
}

export const ZIPKIN_JSON: ZipkinFormat = {
  contentType: 'application/json',
  encode: (record, { serviceName, ip }) => {
    const { traceId, parentId, id, isClient, name, timestamp, duration, isShared } = record;
    const json = JSON.stringify({
      traceId,
      ...(parentId === '' ? {} : { parentId }),
      id,
      kind: isClient ? 'CLIENT' : 'SERVER',
      name,
      timestamp,
      duration,
      ...(isShared ? { shared: true } : {}),
      localEndpoint: { serviceName, [isIpv6(ip) ? 'ipv6' : 'ipv4']: ip, port: 0 },
      annotations: record.annotations,
    });
    const whole = `${json.slice(0, -1)},"tags":{${tagsAsJson(record.tags)}}}`;
    return Buffer.from(whole, 'latin1');
  },
  join: (spans) =>
    Buffer.from(`[${spans.map((span) => span.toString('latin1')).join(',')}]`, 'latin1'),
};

const KIND_CLIENT = 1;
const KIND_SERVER = 2;

export const ZIPKIN_PROTO: ZipkinFormat = {
  contentType: 'application/x-protobuf',
  encode: (record, endpoint) => {
    const writer = new ProtoWriter();
    writer.message(1, () => writeSpan(writer, record, endpoint));
    return Buffer.from(writer.finish());
  },
  join: (spans) => Buffer.concat(spans),
};

function writeSpan(writer: ProtoWriter, record: ZipkinRecord, endpoint: ZipkinEndpoint): void {
  writer.bytes(1, Buffer.from(record.traceId, 'hex'));
  writer.bytes(2, Buffer.from(record.parentId, 'hex'));
  writer.bytes(3, Buffer.from(record.id, 'hex'));
  writer.integer(4, record.isClient ? KIND_CLIENT : KIND_SERVER);
  writer.text(5, record.name);
  writer.fixed64(6, BigInt(record.timestamp));
  writer.integer(7, record.duration);
  writer.message(8, () => {
    writer.text(1, endpoint.serviceName);
    writer.bytes(isIpv6(endpoint.ip) ? 3 : 2, ipBytes(endpoint.ip));
  });
  for (const { timestamp, value } of record.annotations) {
    writer.message(10, () => {
      writer.fixed64(1, BigInt(timestamp));
      writer.text(2, value);
    });
  }
  record.tags.forEach((name, value) => {
    writer.message(11, () => {
      writer.text(1, name);
      writer.text(2, value);
    });
  });
  if (record.isShared) writer.integer(13, 1);
}

/** Members of an object, whatever their names are. */
function tagsAsJson(tags: SpanTags): string {
  const members: string[] = [];
  tags.forEach((name, value) => {
    members.push(`${JSON.stringify(name)}:${JSON.stringify(value)}`);
  });
  return members.join(',');
}

function isIpv6(ip: string): boolean {
  return ip.includes(':');
}

function ipBytes(ip: string): Buffer {
  if (!isIpv6(ip)) return Buffer.from(ip.split('.').map(Number));
  const groups = ipv6Groups(ip);
  return Buffer.from(groups.flatMap((group) => [group >> 8, group & 0xff]));
}
