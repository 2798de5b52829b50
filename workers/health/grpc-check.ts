/** The messages of grpc.health.v1.Health/Check with their gRPC prefix. */

/** `SERVING` of HealthCheckResponse. */
const SERVING = 1;
const LENGTH_PREFIX_BYTES = 5;

/** A HealthCheckRequest; an empty name asks for the whole server. */
export function grpcCheckMessage(service: string): Buffer {
  const name = Buffer.from(service);
  const message =
    name.length === 0 ? name : Buffer.concat([Buffer.from([0x0a]), varint(name.length), name]);
  const prefix = Buffer.alloc(LENGTH_PREFIX_BYTES);
  prefix.writeUInt32BE(message.length, 1);
  return Buffer.concat([prefix, message]);
}

/** By the field 1 of a HealthCheckResponse. */
export function saysServing(body: Buffer): boolean {
  return body[LENGTH_PREFIX_BYTES] === 0x08 && body[LENGTH_PREFIX_BYTES + 1] === SERVING;
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  for (let rest = value; ; rest >>>= 7) {
    if (rest < 0x80) return Buffer.from([...bytes, rest]);
    bytes.push((rest & 0x7f) | 0x80);
  }
}
