/**
 * Records of protobuf as bytes of their own, for messages whose type is known at run time only, and
 * whose parts are made in another order than they stand in. ProtoWriter is the way for all others.
 */
import { Wire } from './wire.ts';

export function varintBytes(value: bigint): Buffer {
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, value);
  while (rest > 0x7fn) {
    bytes.push(Number(rest & 0x7fn) | 0x80);
    rest >>= 7n;
  }
  bytes.push(Number(rest));
  return Buffer.from(bytes);
}

export function keyBytes(number: number, wire: number): Buffer {
  return varintBytes((BigInt(number) << 3n) | BigInt(wire));
}

/** A record of text, bytes or a message. */
export function lengthDelimited(number: number, bytes: Buffer): Buffer {
  return Buffer.concat([keyBytes(number, Wire.bytes), varintBytes(BigInt(bytes.length)), bytes]);
}
