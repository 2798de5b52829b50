/** Settings and stats of envoy.filters.http.set_metadata. */
import type { FilterResource } from '../declare-filter.ts';
import type { Struct } from '../../../text/dictionary.ts';
import { declareKind } from '../declare-filter.ts';
import { defineTemplate } from '../../../stats/template.ts';
import { counter } from '../../../stats/templates/spec.ts';

/** In order; `value` is a struct. Where a namespace is taken, it is merged into it or counted. */
export type SetMetadataOptions = readonly {
  readonly namespace: string;
  readonly allowOverwrite: boolean;
  readonly value: Struct;
}[];

/** Prefix: `http.<stat_prefix>.set_metadata.` */
export const SET_METADATA = defineTemplate('set_metadata', {
  overwrite_denied: counter('Entries whose namespace was taken'),
});

export type SetMetadataFilterSettings = FilterResource<'set_metadata', SetMetadataOptions>;

export const SET_METADATA_DECLARATION = declareKind<SetMetadataFilterSettings>(SET_METADATA);
