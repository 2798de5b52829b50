/** Answers of a control plane, whatever is in them, and frames that are none. */
import protobuf from 'protobufjs/minimal.js';
import { ApiCatalog } from '../../../../supervisor/config/api/api-catalog.ts';
import { messageToBinary } from '../../../../supervisor/config/message-codec.ts';
import { typeUrlOf } from '../control-plane.ts';
import { frame, grpcMessage } from './hostile-control-plane.ts';

export const CLUSTERS = typeUrlOf('cluster.v3.Cluster');
const catalog = new ApiCatalog();

interface AnswerParts {
  readonly version?: string;
  readonly type?: string;
  readonly nonce?: string;
  readonly identifier?: string;
  readonly resources?: Iterable<{ readonly type: string; readonly value: Uint8Array }>;
}

/** A DiscoveryResponse, whatever is in it. */
export function answer({
  version = '9',
  type = CLUSTERS,
  nonce = 'n',
  ...rest
}: AnswerParts): Buffer {
  const writer = protobuf.Writer.create().uint32(10).string(version);
  for (const { type: of, value } of rest.resources ?? []) {
    writer.uint32(18).fork().uint32(10).string(of).uint32(18).bytes(value).ldelim();
  }
  writer.uint32(34).string(type).uint32(42).string(nonce);
  writer
    .uint32(50)
    .fork()
    .uint32(10)
    .string(rest.identifier ?? '')
    .ldelim();
  return grpcMessage(writer.finish());
}

export function clusterBytes(message: object): Uint8Array {
  return messageToBinary(catalog, 'envoy.config.cluster.v3.Cluster', message as never);
}

export function named(name: string): { readonly type: string; readonly value: Uint8Array } {
  return { type: CLUSTERS, value: clusterBytes({ name, type: 'STATIC', connect_timeout: '1s' }) };
}

/** `levels` messages, each the only field of the one around it. */
export function nested(levels: number, tags: readonly number[]): Uint8Array {
  let inner: Uint8Array = Buffer.from([0]).subarray(1);
  for (let at = levels; at > 0; at--) {
    const tag = tags[at % tags.length] ?? 10;
    inner = protobuf.Writer.create().uint32(tag).bytes(inner).finish();
  }
  return inner;
}

/** An Any that holds an Any, and so on. */
export function nestedAny(levels: number): Uint8Array {
  let inner: Uint8Array = clusterBytes({ name: 'inner' });
  for (let at = 0; at < levels; at++) {
    const type = at === 0 ? CLUSTERS : 'type.googleapis.com/google.protobuf.Any';
    inner = protobuf.Writer.create().uint32(10).string(type).uint32(18).bytes(inner).finish();
  }
  return inner;
}

/** Frames of any type, flags and length, and a few bytes that are none. */
export function* anyFrames(count: number, id: number, random: () => number): Generator<Uint8Array> {
  const upTo = (limit: number): number => Math.floor(random() * limit);
  for (let at = 0; at < count; at++) {
    const payload = Buffer.from(Array.from({ length: upTo(40) }, () => upTo(256)));
    const length = random() < 0.1 ? upTo(20_000) : payload.length;
    const made = frame(upTo(12), upTo(256), random() < 0.7 ? id : upTo(5), payload);
    made.writeUIntBE(length, 0, 3);
    yield made;
  }
}

/** A good answer of which a few bytes are others. */
export function spoiled(random: () => number): Buffer {
  const good = answer({ resources: [named('spoiled')] }).subarray(5);
  const changed = Buffer.from(good);
  for (let at = 0; at < 3; at++) {
    changed[Math.floor(random() * changed.length)] = Math.floor(random() * 256);
  }
  return grpcMessage(changed.subarray(0, Math.floor(random() * changed.length * 2)));
}
