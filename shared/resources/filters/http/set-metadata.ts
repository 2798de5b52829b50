/** Settings and stats of envoy.filters.http.set_metadata. */
import type { FilterResource } from '../declare-filter.ts';
import type { Struct } from '../../../text/dictionary.ts';
import { declareKind } from '../declare-filter.ts';
import { defineTemplate } from '../../../stats/template.ts';
import { counter } from '../../../stats/templates/spec.ts';

/** In order. Where a namespace is taken, it is overwritten or counted. */
export interface SetMetadataOptions {
  /** Structs, which are merged into what is there. */
  readonly untyped: readonly MetadataEntry<Struct>[];
  /** Bytes of a google.protobuf.Any, which take the place of what is there. */
  readonly typed: readonly MetadataEntry<Uint8Array>[];
}

interface MetadataEntry<Value> {
  readonly namespace: string;
  readonly allowOverwrite: boolean;
  readonly value: Value;
}

/** Prefix: `http.<stat_prefix>.set_metadata.` */
export const SET_METADATA = defineTemplate('set_metadata', {
  overwrite_denied: counter('Entries whose namespace was taken'),
});

export type SetMetadataFilterSettings = FilterResource<'set_metadata', SetMetadataOptions>;

export const SET_METADATA_DECLARATION = declareKind<SetMetadataFilterSettings>(SET_METADATA);
