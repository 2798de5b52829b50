/** Settings of tls_inspector: what a TLS client says first is known before a chain is chosen. */
import { defineTemplate } from '../../../stats/template.ts';
import { counter, histogram } from '../../../stats/templates/spec.ts';
import { declareKind } from '../declare-filter.ts';
import type { ListenerFilterResource } from '../listener-filter.ts';

/** Prefix: `tls_inspector.` */
export const TLS_INSPECTOR = defineTemplate('tls_inspector', {
  alpn_found: counter('Handshakes that name application protocols'),
  alpn_not_found: counter('Handshakes that name no application protocol'),
  client_hello_too_large: counter('Connections closed: the first message is too large'),
  sni_found: counter('Handshakes that name a server'),
  sni_not_found: counter('Handshakes that name no server'),
  tls_found: counter('Connections with TLS'),
  tls_not_found: counter('Connections without TLS'),
  bytes_processed: histogram('Bytes read to decide', 'bytes'),
});

export type TlsInspectorSettings = ListenerFilterResource<'tls_inspector'> & {
  /** Which fingerprints are made of clients. */
  readonly makesJa3?: true;
  readonly makesJa4?: true;
};

export const TLS_INSPECTOR_DECLARATION = declareKind<TlsInspectorSettings>(TLS_INSPECTOR);
