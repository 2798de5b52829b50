/** Wire types of protobuf: the lowest three bits of a field's key, which say how long its value is. */
export const Wire = {
  varint: 0,
  fixed64: 1,
  bytes: 2,
  groupStart: 3,
  groupEnd: 4,
  fixed32: 5,
} as const;
