/** Resolves tls_inspector. */
import type { TlsInspector } from '../../../../shared/api/generated/envoy/extensions/filters/listener/tls_inspector/v3/tls_inspector.ts';
import type { TlsInspectorSettings } from '../../../../shared/resources/filters/listener/tls-inspector.ts';
import { extension } from '../../extensions.ts';
import { knownFields, refuseOtherFields } from '../../fields.ts';

/** The sizes bound a buffer of Envoy's; here the limit stands. */
const FIELDS = knownFields<TlsInspector>([], ['initial_read_buffer_size', 'max_client_hello_size']);

export const TLS_INSPECTOR_FILTER = extension(
  'envoy.filters.listener.tls_inspector',
  'envoy.extensions.filters.listener.tls_inspector.v3.TlsInspector',
  (message: TlsInspector, scope): TlsInspectorSettings => {
    refuseOtherFields(message, FIELDS, scope);
    return { kind: 'tls_inspector' };
  },
);
