/** Messages of services that filters ask, as a test writes and reads them, and their clusters. */
import { readMessage, visitFields } from '../../../../shared/protobuf/proto-reader.ts';
import { ProtoWriter } from '../../../../shared/protobuf/proto-writer.ts';
import { writeStruct } from '../../../../shared/protobuf/struct-message.ts';
import { staticCluster } from '../../parts/bootstrap.ts';

const HTTP_OPTIONS = 'envoy.extensions.upstreams.http.v3.HttpProtocolOptions';

export function grpcCluster(name: string, port: number): object {
  return staticCluster(name, [port], {
    typed_extension_protocol_options: {
      [HTTP_OPTIONS]: {
        '@type': `type.googleapis.com/${HTTP_OPTIONS}`,
        explicit_http_config: { http2_protocol_options: {} },
      },
    },
  });
}

interface AuthzAnswer {
  readonly code?: number;
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly removes?: readonly string[];
  readonly body?: string;
  readonly metadata?: object;
}

/** envoy.service.auth.v3.CheckResponse. */
export function checkResponse({
  code = 0,
  status,
  headers,
  removes,
  body,
  metadata,
}: AuthzAnswer): Buffer {
  const writer = new ProtoWriter();
  writer.message(1, () => writer.integer(1, code));
  writer.message(code === 0 ? 3 : 2, () => {
    if (status !== undefined) writer.message(1, () => writer.integer(1, status));
    for (const [key, value] of Object.entries(headers ?? {})) {
      writer.message(2, () =>
        writer.message(1, () => {
          writer.utf8(1, key);
          writer.utf8(2, value);
        }),
      );
    }
    if (code !== 0) writer.utf8(3, body ?? '');
    for (const name of removes ?? []) writer.utf8(5, name);
  });
  if (metadata !== undefined) writeStruct(writer, 4, metadata as Readonly<Record<string, unknown>>);
  return Buffer.from(writer.finish());
}

/** envoy.service.ratelimit.v3.RateLimitResponse. */
export function limitResponse(code: number, body = ''): Buffer {
  const writer = new ProtoWriter();
  writer.integer(1, code);
  writer.message(2, () => {
    writer.integer(1, code);
    writer.message(2, () => {
      writer.integer(1, 10);
      writer.integer(2, 2);
    });
    writer.integer(3, 4);
    writer.message(4, () => writer.integer(1, 30));
  });
  writer.utf8(5, body);
  return Buffer.from(writer.finish());
}

/** The texts at a path of field numbers in a message behind its frame's head. */
export function textsAt(framed: Buffer, path: readonly number[]): readonly string[] {
  const texts: string[] = [];
  const walk = (bytes: Buffer, [first, ...rest]: readonly number[]): void =>
    visitFields(bytes, (field) => {
      const inner = field.number === first ? field.bytes() : undefined;
      if (inner === undefined) return;
      if (rest.length === 0) texts.push(inner.toString());
      else walk(inner, rest);
    });
  readMessage(framed.subarray(5), (bytes) => walk(bytes, path));
  return texts;
}
