/** Resolves tls_inspector. */
import type { TlsInspector } from '../../../../shared/api/generated/envoy/extensions/filters/listener/tls_inspector/v3/tls_inspector.ts';
import type { TlsInspectorSettings } from '../../../../shared/resources/filters/listener/tls-inspector.ts';
import { extension } from '../../extensions.ts';
import { knownFields, refuseOtherFields } from '../../fields.ts';

/** The sizes bound a buffer of Envoy's; here the limit stands. */
const FIELDS = knownFields<TlsInspector>(
  ['enable_ja3_fingerprinting', 'enable_ja4_fingerprinting'],
  ['initial_read_buffer_size', 'max_client_hello_size'],
);

export const TLS_INSPECTOR_FILTER = extension(
  'envoy.filters.listener.tls_inspector',
  'envoy.extensions.filters.listener.tls_inspector.v3.TlsInspector',
  (message: TlsInspector, scope): TlsInspectorSettings => {
    refuseOtherFields(message, FIELDS, scope);
    const { enable_ja3_fingerprinting: ja3, enable_ja4_fingerprinting: ja4 } = message;
    return {
      kind: 'tls_inspector',
      ...(ja3 === true ? { makesJa3: true } : {}),
      ...(ja4 === true ? { makesJa4: true } : {}),
    };
  },
);
