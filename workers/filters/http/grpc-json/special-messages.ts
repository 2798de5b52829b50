/** Messages of protobuf that JSON writes in a way of their own, and what a mistake is called. */
import { keyBytes, lengthDelimited } from '../../../../shared/protobuf/records.ts';
import { Wire } from '../../../../shared/protobuf/wire.ts';
import type { ProtoField } from '../../../../shared/resources/filters/http/grpc-json-transcoder.ts';
import { JsonNumber, JsonObject, type JsonNode, TranscodeError } from './json-text.ts';
import type { MessageType } from './proto-types.ts';
import { shown } from './scalar-of-json.ts';
import type { SecondsAndNanos } from './times.ts';
import { integerBytes } from './wire-values.ts';

const NULL_VALUE = 'google.protobuf.NullValue';

/** Which field of google.protobuf.Value takes it. */
export function numberOfValue(node: JsonNode): number {
  if (node === null) return 1;
  if (node instanceof JsonNumber) return 2;
  if (typeof node === 'string') return 3;
  if (typeof node === 'boolean') return 4;
  return node instanceof JsonObject ? 5 : 6;
}

export function takesNull({ type }: ProtoField): boolean {
  return type === 'google.protobuf.Value' || type === NULL_VALUE;
}

export function takesList({ type, isRepeated }: ProtoField): boolean {
  return !isRepeated && (type === 'google.protobuf.Value' || type === 'google.protobuf.ListValue');
}

export function time(
  type: MessageType,
  node: JsonNode,
  place: string,
  read: (text: string) => SecondsAndNanos | string,
): Buffer {
  const kind = type.name.slice(type.name.lastIndexOf('.') + 1).toLowerCase();
  const value =
    typeof node === 'string'
      ? read(node)
      : `Invalid data type for ${kind}, value is ${shown(node)}`;
  if (typeof value === 'string') {
    // Elements of lists have no name.
    const field = place.endsWith(']') ? '' : place.slice(place.lastIndexOf('.') + 1);
    throw new TranscodeError(
      `${place}: invalid value Field '${field}', ${value} for type ${typeUrl(type)}`,
    );
  }
  return Buffer.concat([
    keyBytes(1, Wire.varint),
    integerBytes('int64', value.seconds),
    keyBytes(2, Wire.varint),
    integerBytes('int32', BigInt(value.nanos)),
  ]);
}

export function fieldMask(type: MessageType, node: JsonNode, place: string): Buffer {
  if (typeof node !== 'string') throw invalid(place, node, typeUrl(type));
  const paths = node.split(',').filter((path) => path !== '');
  return Buffer.concat(
    paths.map((path) => {
      const snake = path.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
      return lengthDelimited(1, Buffer.from(snake, 'utf8'));
    }),
  );
}

export function typeUrl({ name }: MessageType): string {
  return `type.googleapis.com/${name}`;
}

export function at(place: string, name: string): string {
  return place === '' ? name : `${place}.${name}`;
}

export function invalid(place: string, node: JsonNode, type: string): TranscodeError {
  return new TranscodeError(`${place}: invalid value ${shown(node)} for type ${type}`);
}
