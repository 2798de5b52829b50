/** Settings of connection_limit: connections at one time. */
import { defineTemplate } from '../../../stats/template.ts';
import { counter, gauge } from '../../../stats/templates/spec.ts';
import { declareKind } from '../declare-filter.ts';

/** Prefix: `connection_limit.<stat_prefix>.` */
export const CONNECTION_LIMIT = defineTemplate('connection_limit', {
  active_connections: gauge('Open connections within the limit'),
  limited_connections: counter('Connections closed by the limit'),
});

export interface ConnectionLimit {
  readonly kind: 'connection_limit';
  readonly statPrefix: string;
  /** The limit for all workers together. */
  readonly maxConnections: number;
  /** How long a connection above the limit is held before it is closed; 0: not at all. */
  readonly delayMs: number;
  readonly enabled: { readonly isDefault: boolean; readonly runtimeKey: string };
  /** Where the filter stands in the configuration: connections are counted under it. */
  readonly place: string;
}

export const CONNECTION_LIMIT_DECLARATION = declareKind<ConnectionLimit>(CONNECTION_LIMIT);
