/** The messages of grpc.health.v1.Health/Check with their gRPC prefix. */
import { ProtoWriter } from '../../shared/protobuf/proto-writer.ts';

/** `SERVING` of HealthCheckResponse. */
const SERVING = 1;
const LENGTH_PREFIX_BYTES = 5;

/** A HealthCheckRequest; an empty name asks for the whole server. */
export function grpcCheckMessage(service: string): Buffer {
  const writer = new ProtoWriter();
  writer.utf8(1, service);
  const message = writer.finish();
  const prefix = Buffer.alloc(LENGTH_PREFIX_BYTES);
  prefix.writeUInt32BE(message.length, 1);
  return Buffer.concat([prefix, message]);
}

/** By the field 1 of a HealthCheckResponse. */
export function saysServing(body: Buffer): boolean {
  return body[LENGTH_PREFIX_BYTES] === 0x08 && body[LENGTH_PREFIX_BYTES + 1] === SERVING;
}
