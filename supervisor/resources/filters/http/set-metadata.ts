/** Resolves envoy.filters.http.set_metadata. */
import { structOf } from '../../../../shared/text/dictionary.ts';
import type {
  Config,
  Metadata,
} from '../../../../shared/api/generated/envoy/extensions/filters/http/set_metadata/v3/set_metadata.ts';
import type {
  SetMetadataFilterSettings,
  SetMetadataOptions,
} from '../../../../shared/resources/filters/http/set-metadata.ts';
import { knownFields, refuseOtherFields } from '../../fields.ts';
import { httpFilter } from '../http-filter-row.ts';

const FIELDS = knownFields<Config>(['metadata_namespace', 'value', 'metadata']);
const ENTRY_FIELDS = knownFields<Metadata>(['metadata_namespace', 'allow_overwrite', 'value']);

export const SET_METADATA_FILTER = httpFilter(
  'envoy.filters.http.set_metadata',
  'envoy.extensions.filters.http.set_metadata.v3.Config',
  (message: Config, scope, name): SetMetadataFilterSettings => {
    refuseOtherFields(message, FIELDS, scope);
    const entries = (message.metadata ?? []).map((entry, index) => {
      refuseOtherFields(entry, ENTRY_FIELDS, scope.at('metadata', index));
      return {
        namespace: entry.metadata_namespace ?? '',
        allowOverwrite: entry.allow_overwrite ?? false,
        value: structOf(entry.value ?? {}),
      };
    });
    return { kind: 'set_metadata', name, options: [...olderForm(message), ...entries] };
  },
);

/** One entry that always takes effect. */
function olderForm({ metadata_namespace: namespace, value }: Config): SetMetadataOptions {
  if (namespace === undefined || namespace === '' || value === undefined) return [];
  return [{ namespace, allowOverwrite: true, value: structOf(value) }];
}
