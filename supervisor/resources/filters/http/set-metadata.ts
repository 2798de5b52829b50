/** Resolves envoy.filters.http.set_metadata. */
import type { Any } from '../../../../shared/api/well-known.ts';
import { structOf } from '../../../../shared/text/dictionary.ts';
import type {
  Config,
  Metadata,
} from '../../../../shared/api/generated/envoy/extensions/filters/http/set_metadata/v3/set_metadata.ts';
import type {
  SetMetadataFilterSettings,
  SetMetadataOptions,
} from '../../../../shared/resources/filters/http/set-metadata.ts';
import { ApiCatalog } from '../../../config/api/api-catalog.ts';
import type { MessageObject } from '../../../config/convert/message-object.ts';
import { messageToBinary } from '../../../config/message-codec.ts';
import { knownFields, refuseOtherFields } from '../../fields.ts';
import { httpFilter } from '../http-filter-row.ts';

const FIELDS = knownFields<Config>(['metadata_namespace', 'value', 'metadata']);
const ENTRY_FIELDS = knownFields<Metadata>([
  'metadata_namespace',
  'allow_overwrite',
  'value',
  'typed_value',
]);

export const SET_METADATA_FILTER = httpFilter(
  'envoy.filters.http.set_metadata',
  'envoy.extensions.filters.http.set_metadata.v3.Config',
  (message: Config, scope, name): SetMetadataFilterSettings => {
    refuseOtherFields(message, FIELDS, scope);
    const untyped = [...olderForm(message)];
    const typed: SetMetadataOptions['typed'][number][] = [];
    for (const [index, entry] of (message.metadata ?? []).entries()) {
      const place = scope.at('metadata', index);
      refuseOtherFields(entry, ENTRY_FIELDS, place);
      const { metadata_namespace: namespace = '', allow_overwrite: allowOverwrite = false } = entry;
      if (entry.value !== undefined) {
        untyped.push({ namespace, allowOverwrite, value: structOf(entry.value) });
      } else if (entry.typed_value !== undefined) {
        typed.push({ namespace, allowOverwrite, value: anyBytes(entry.typed_value) });
      } else place.warning('no_effect', 'it has no effect: there is no value');
    }
    return { kind: 'set_metadata', name, options: { untyped, typed } };
  },
);

function anyBytes(any: Any): Uint8Array {
  const message = any as unknown as MessageObject;
  return messageToBinary(new ApiCatalog(), 'google.protobuf.Any', message);
}

/** One entry that always takes effect. */
function olderForm({
  metadata_namespace: namespace,
  value,
}: Config): SetMetadataOptions['untyped'] {
  if (namespace === undefined || namespace === '' || value === undefined) return [];
  return [{ namespace, allowOverwrite: true, value: structOf(value) }];
}
