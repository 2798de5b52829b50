/** Settings of http_inspector: the version of HTTP in the clear is known before a chain is chosen. */
import { defineTemplate } from '../../../stats/template.ts';
import { counter } from '../../../stats/templates/spec.ts';
import { declareKind } from '../declare-filter.ts';
import type { ListenerFilterResource } from '../listener-filter.ts';

/** Prefix: `http_inspector.` */
export const HTTP_INSPECTOR = defineTemplate('http_inspector', {
  http10_found: counter('Connections with HTTP/1.0'),
  http11_found: counter('Connections with HTTP/1.1'),
  http2_found: counter('Connections with HTTP/2'),
  http_not_found: counter('Connections without HTTP'),
  read_error: counter('Never counted: neither by Envoy'),
});

export type HttpInspectorSettings = ListenerFilterResource<'http_inspector'>;

export const HTTP_INSPECTOR_DECLARATION = declareKind<HttpInspectorSettings>(HTTP_INSPECTOR);
