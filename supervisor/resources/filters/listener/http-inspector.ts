/** Resolves http_inspector, which has no settings. */
import type { HttpInspectorSettings } from '../../../../shared/resources/filters/listener/http-inspector.ts';
import { extension } from '../../extensions.ts';

export const HTTP_INSPECTOR_FILTER = extension(
  'envoy.filters.listener.http_inspector',
  'envoy.extensions.filters.listener.http_inspector.v3.HttpInspector',
  (): HttpInspectorSettings => ({ kind: 'http_inspector' }),
);
