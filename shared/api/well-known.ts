/**
 * TypeScript types of the well-known protobuf messages in their normalised form, which the
 * generated API types refer to. Types only.
 */

/** A message of any type, expanded in place: its type URL, then its fields. */
export interface Any {
  readonly '@type': string;
  readonly [field: string]: unknown;
}

export type JsonValue =
  | null
  | boolean
  | number
  | string
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue };

/** google.protobuf.Struct. */
export type JsonObject = Readonly<Record<string, JsonValue>>;

/**
 * google.protobuf.Duration, such as `1.500s`.
 * @public
 */
export type DurationString = string;

/**
 * google.protobuf.Timestamp in RFC 3339 form, such as `2024-01-01T00:00:00Z`.
 * @public
 */
export type TimestampString = string;

/**
 * A 64-bit integer in decimal digits.
 * @public
 */
export type Int64String = string;

/**
 * Bytes in base64.
 * @public
 */
export type BytesString = string;

/**
 * google.protobuf.FieldMask: paths joined with commas.
 * @public
 */
export type FieldMaskString = string;

/**
 * float and double: a number, or the name of one that JSON cannot write.
 * @public
 */
export type Float = number | 'NaN' | 'Infinity' | '-Infinity';
