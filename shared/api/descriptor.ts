/**
 * The shape of the API descriptor that the build makes from the .proto files: one JSON text per
 * protobuf package, so that a small configuration loads only the packages it names. This file
 * describes and reads those texts; it interprets nothing and knows no protobuf library.
 */
import { join } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';
import { builtRoot } from '../process/built-root.ts';
import { FIELD_COMMENTS, PackageArchive } from './package-archive.ts';

/** Everything declared in one protobuf package. Keys are names within it, such as `Cluster.LbPolicy`. */
export interface PackageDescriptor {
  readonly package: string;
  readonly messages: Readonly<Record<string, MessageDescriptor>>;
  readonly enums: Readonly<Record<string, EnumDescriptor>>;
  readonly services: Readonly<Record<string, readonly MethodDescriptor[]>>;
}

export interface MessageDescriptor {
  /** The .proto file that declares it, such as `envoy/config/cluster/v3/cluster.proto`. */
  readonly file: string;
  readonly fields: readonly FieldDescriptor[];
  readonly oneofs?: readonly OneofDescriptor[];
  readonly deprecated?: true;
  readonly workInProgress?: true;
  /** `validate.disabled`: the rules of this message and its fields are not applied. */
  readonly unvalidated?: true;
}

export interface OneofDescriptor {
  readonly name: string;
  /** `validate.required`: one of the fields must be set. */
  readonly required?: true;
}

export type ScalarKind =
  | 'double'
  | 'float'
  | 'int32'
  | 'int64'
  | 'uint32'
  | 'uint64'
  | 'sint32'
  | 'sint64'
  | 'fixed32'
  | 'fixed64'
  | 'sfixed32'
  | 'sfixed64'
  | 'bool'
  | 'string'
  | 'bytes';

export type FieldKind = ScalarKind | 'message' | 'enum';

export interface FieldDescriptor {
  readonly name: string;
  readonly number: number;
  /** For a map, the kind of its values. */
  readonly kind: FieldKind;
  /** Full name of the message or enum when the kind is one of these. */
  readonly type?: string;
  readonly repeated?: true;
  /** Set for maps only. */
  readonly mapKey?: ScalarKind;
  /** Set when a repeated scalar is written unpacked. */
  readonly unpacked?: true;
  /** `optional` in the .proto file: a default value that was given is kept. */
  readonly optional?: true;
  /** Index in the message's `oneofs`. */
  readonly oneof?: number;
  /** `validate.rules`, merged into one object per rule family. */
  readonly rules?: FieldRules;
  readonly deprecated?: true;
  /** `envoy.annotations.deprecated_at_minor_version`, such as `3.0`. */
  readonly deprecatedAt?: string;
  readonly disallowedByDefault?: true;
  readonly workInProgress?: true;
  /** `udpa.annotations.sensitive`: never shown in a dump. */
  readonly sensitive?: true;
}

export interface EnumDescriptor {
  readonly file: string;
  readonly values: Readonly<Record<string, number>>;
  /** Annotations of single values, by name. */
  readonly deprecated?: Readonly<Record<string, EnumValueStatus>>;
}

export interface EnumValueStatus {
  readonly deprecatedAt?: string;
  readonly disallowedByDefault?: true;
}

export interface MethodDescriptor {
  readonly name: string;
  readonly request: string;
  readonly response: string;
  readonly requestStream?: true;
  readonly responseStream?: true;
}

/** `validate.FieldRules` in JSON form; one member, plus `message`. 64-bit values are numbers. */
export interface FieldRules {
  readonly message?: { readonly required?: boolean; readonly skip?: boolean };
  readonly string?: StringRules;
  readonly bytes?: LengthRules;
  readonly bool?: { readonly const?: boolean };
  readonly enum?: EnumRules;
  readonly repeated?: RepeatedRules;
  readonly map?: MapRules;
  readonly any?: MembershipRules<string> & { readonly required?: boolean };
  readonly duration?: TimeRules;
  readonly timestamp?: TimeRules;
  /** Whichever numeric family the field has: `uint32`, `double`, ... */
  readonly number?: NumberRules;
}

export interface MembershipRules<T> {
  readonly in?: readonly T[];
  readonly not_in?: readonly T[];
}

export interface NumberRules extends MembershipRules<number> {
  readonly const?: number;
  readonly lt?: number;
  readonly lte?: number;
  readonly gt?: number;
  readonly gte?: number;
  readonly ignore_empty?: boolean;
}

export interface LengthRules extends MembershipRules<string> {
  readonly const?: string;
  readonly len?: number;
  readonly min_len?: number;
  readonly max_len?: number;
  readonly pattern?: string;
  readonly prefix?: string;
  readonly suffix?: string;
  readonly contains?: string;
  readonly ip?: boolean;
  readonly ipv4?: boolean;
  readonly ipv6?: boolean;
  readonly ignore_empty?: boolean;
}

export interface StringRules extends LengthRules {
  readonly len_bytes?: number;
  readonly min_bytes?: number;
  readonly max_bytes?: number;
  readonly not_contains?: string;
  readonly email?: boolean;
  readonly hostname?: boolean;
  readonly uri?: boolean;
  readonly uri_ref?: boolean;
  readonly address?: boolean;
  readonly uuid?: boolean;
  readonly well_known_regex?: 'HTTP_HEADER_NAME' | 'HTTP_HEADER_VALUE';
  /** Belongs to `well_known_regex`; true when absent. */
  readonly strict?: boolean;
}

export interface EnumRules extends MembershipRules<number> {
  readonly const?: number;
  readonly defined_only?: boolean;
}

interface RepeatedRules {
  readonly min_items?: number;
  readonly max_items?: number;
  readonly unique?: boolean;
  readonly items?: FieldRules;
  readonly ignore_empty?: boolean;
}

interface MapRules {
  readonly min_pairs?: number;
  readonly max_pairs?: number;
  readonly no_sparse?: boolean;
  readonly keys?: FieldRules;
  readonly values?: FieldRules;
  readonly ignore_empty?: boolean;
}

/** A duration or time in a rule, as seconds and nanoseconds. */
export interface RuleTime {
  readonly seconds?: number;
  readonly nanos?: number;
}

export interface TimeRules extends MembershipRules<RuleTime> {
  readonly required?: boolean;
  readonly const?: RuleTime;
  readonly lt?: RuleTime;
  readonly lte?: RuleTime;
  readonly gt?: RuleTime;
  readonly gte?: RuleTime;
  readonly lt_now?: boolean;
  readonly gt_now?: boolean;
  readonly within?: RuleTime;
}

const packages = new PackageArchive(join(builtRoot, 'shared', 'api', 'packages.archive'));

/** Reads one package's descriptor; undefined when the API has no such package. */
export function readPackage(name: string): PackageDescriptor | undefined {
  const text = packages.text(name);
  return text === undefined ? undefined : (JSON.parse(text) as PackageDescriptor);
}

/** The names of all packages of the API, sorted. */
export function listPackages(): string[] {
  return packages.names().filter((name) => name !== FIELD_COMMENTS);
}

/** What fields mean, by message and field: for people who ask, never for a server. */
export type FieldComments = readonly (readonly [
  message: string,
  fields: readonly (readonly [field: string, text: string])[],
])[];

/** Messages and fields by name; empty where the archive has none. */
export function readFieldComments(): ReadonlyMap<string, ReadonlyMap<string, string>> {
  const packed = packages.bytes(FIELD_COMMENTS);
  if (packed === undefined) return new Map();
  const comments = JSON.parse(brotliDecompressSync(packed).toString()) as FieldComments;
  return new Map(comments.map(([message, fields]) => [message, new Map(fields)]));
}
