/** Settings and stats of envoy.filters.http.thrift_to_metadata. */
import { defineTemplate } from '../../../../stats/template.ts';
import { counter } from '../../../../stats/templates/spec.ts';
import type { ThriftProtocol, ThriftTransport } from '../../../../thrift/thrift-message.ts';
import { declareKind, type FilterResource } from '../../declare-filter.ts';

export const THRIFT_FACTS = [
  'METHOD_NAME',
  'PROTOCOL',
  'TRANSPORT',
  'HEADER_FLAGS',
  'SEQUENCE_ID',
  'MESSAGE_TYPE',
  'REPLY_TYPE',
] as const;
export type ThriftFact = (typeof THRIFT_FACTS)[number];

export interface ThriftEntry {
  readonly namespace: string;
  readonly key: string;
  /** Absent: what was found. */
  readonly constant?: { readonly value: unknown };
}

export interface ThriftRule {
  readonly source:
    | { readonly kind: 'fact'; readonly fact: ThriftFact }
    /** Ids of fields, each within the one before it. */
    | { readonly kind: 'field'; readonly path: readonly number[] };
  /** Messages of this method alone; empty: all. */
  readonly method: string;
  /** With its colon: methods of this service alone. */
  readonly service?: string;
  readonly onPresent?: ThriftEntry;
  readonly onMissing?: ThriftEntry;
}

export interface ThriftToMetadataOptions {
  readonly requestRules: readonly ThriftRule[];
  readonly responseRules: readonly ThriftRule[];
  readonly transport: ThriftTransport;
  readonly protocol: ThriftProtocol;
  /** As they are written. */
  readonly contentTypes: readonly string[];
  readonly allowsNoContentType: boolean;
}

/** Prefix: `thrift_to_metadata.rq.` and `thrift_to_metadata.resp.`, without a connection manager's. */
export const THRIFT_TO_METADATA = defineTemplate('thrift_to_metadata', {
  invalid_thrift_body: counter('Bodies that are no Thrift message'),
  mismatched_content_type: counter('Messages of another type'),
  no_body: counter('Messages without a body'),
  success: counter('Messages that were read'),
});

export type ThriftToMetadataFilterSettings = FilterResource<
  'thrift_to_metadata',
  ThriftToMetadataOptions
>;

export const THRIFT_TO_METADATA_DECLARATION =
  declareKind<ThriftToMetadataFilterSettings>(THRIFT_TO_METADATA);
