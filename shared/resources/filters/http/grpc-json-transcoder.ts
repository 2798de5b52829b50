/** Settings of envoy.filters.http.grpc_json_transcoder: services, their messages and their paths. */
import { declareKind, type FilterResource } from '../declare-filter.ts';

/** By number in FieldDescriptorProto; groups are left out. */
export const PROTO_KINDS = [
  undefined,
  'double',
  'float',
  'int64',
  'uint64',
  'int32',
  'fixed64',
  'fixed32',
  'bool',
  'string',
  undefined,
  'message',
  'bytes',
  'uint32',
  'enum',
  'sfixed32',
  'sfixed64',
  'sint32',
  'sint64',
] as const;

export type ProtoKind = Exclude<(typeof PROTO_KINDS)[number], undefined>;

export interface ProtoField {
  readonly number: number;
  readonly name: string;
  readonly jsonName: string;
  readonly kind: ProtoKind;
  /** Full name of its message or enum. */
  readonly type?: string;
  readonly isRepeated: boolean;
  /** Whether it says that it is not set; others are their default then. */
  readonly hasPresence: boolean;
  /** The name of the choice that it is a part of. */
  readonly oneof?: string;
}

export interface ProtoMessage {
  readonly name: string;
  readonly fields: readonly ProtoField[];
  readonly isMapEntry: boolean;
}

export interface ProtoEnum {
  readonly name: string;
  readonly values: readonly (readonly [name: string, number: number])[];
}

export interface TranscodedMethod {
  /** `/package.Service/Method` */
  readonly path: string;
  readonly input: string;
  readonly output: string;
  readonly isClientStreaming: boolean;
  readonly isServerStreaming: boolean;
}

/** Where a part of the path is put. */
export interface PathVariable {
  readonly field: readonly string[];
  /** Positions of its segments; `end` counts from the path's end when it is negative. */
  readonly start: number;
  readonly end: number;
  /** It may have more than one segment. */
  readonly isMultiple: boolean;
}

export interface HttpBinding {
  readonly method: number;
  /** The verb of HTTP, as it is written. */
  readonly verb: string;
  /** `*` and `**` stand for themselves. */
  readonly segments: readonly string[];
  /** What follows the last `:`. */
  readonly customVerb: string;
  readonly variables: readonly PathVariable[];
  /** The request's field that the body is; `*`: the whole request; empty: there is no body. */
  readonly body: string;
  /** The answer's field that the body is; empty: the whole answer. */
  readonly responseBody: string;
}

export interface JsonPrintOptions {
  readonly addsWhitespace: boolean;
  readonly printsDefaults: boolean;
  readonly enumsAsNumbers: boolean;
  readonly keepsFieldNames: boolean;
  readonly streams: 'array' | 'lines' | 'events';
}

export interface TranscoderOptions {
  readonly messages: readonly ProtoMessage[];
  readonly enums: readonly ProtoEnum[];
  readonly methods: readonly TranscodedMethod[];
  /** Empty: nothing is transcoded. */
  readonly bindings: readonly HttpBinding[];
  readonly print: JsonPrintOptions;
  readonly keepsRoute: boolean;
  readonly ignoredQueryParameters: readonly string[];
  readonly ignoresUnknownQueryParameters: boolean;
  readonly capturesUnknownQueryParameters: boolean;
  readonly convertsStatus: boolean;
  readonly unescapes: 'except_reserved' | 'except_slash' | 'all';
  readonly unescapesPlus: boolean;
  readonly matchesUnregisteredVerb: boolean;
  readonly rejects: {
    readonly unknownMethod: boolean;
    readonly unknownQueryParameters: boolean;
    readonly collisions: boolean;
  };
  readonly isEnumCaseIgnored: boolean;
  /** Absent: what a stream may hold. */
  readonly maxRequestBytes?: number;
  readonly maxResponseBytes?: number;
}

export type TranscoderFilterSettings = FilterResource<'grpc_json_transcoder', TranscoderOptions>;

export const TRANSCODER_DECLARATION = declareKind<TranscoderFilterSettings>();
