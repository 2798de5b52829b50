/**
 * Resolves the overload manager: the limit on downstream connections. Actions need monitors that
 * measure pressure, which are refused by name.
 */
import type { OverloadManager } from '../../../shared/api/generated/envoy/config/overload/v3/overload.ts';
import type { DownstreamConnectionsConfig } from '../../../shared/api/generated/envoy/extensions/resource_monitors/downstream_connections/v3/downstream_connections.ts';
import { extension, ExtensionRegistry } from '../extensions.ts';
import { knownFields, refuseOtherFields } from '../fields.ts';
import type { Scope } from '../scope.ts';

const FIELDS = knownFields<OverloadManager>(
  ['resource_monitors', 'actions', 'loadshed_points'],
  ['refresh_interval', 'buffer_factory_config'],
);

/** The connections that a monitor lets in. */
export const MONITORS = new ExtensionRegistry<number>(
  'envoy.resource_monitors',
  'resource monitor',
  [
    extension(
      'envoy.resource_monitors.global_downstream_max_connections',
      'envoy.extensions.resource_monitors.downstream_connections.v3.DownstreamConnectionsConfig',
      (message: DownstreamConnectionsConfig) => Number(message.max_active_downstream_connections),
    ),
  ],
);

const ACTIONS = new Set([
  'envoy.overload_actions.stop_accepting_requests',
  'envoy.overload_actions.disable_http_keepalive',
  'envoy.overload_actions.stop_accepting_connections',
  'envoy.overload_actions.reject_incoming_connections',
  'envoy.overload_actions.shrink_heap',
  'envoy.overload_actions.reduce_timeouts',
  'envoy.overload_actions.reset_high_memory_stream',
]);

/** The limit on downstream connections of all listeners; undefined without one. */
export function resolveOverloadManager(
  message: OverloadManager | undefined,
  scope: Scope,
): number | undefined {
  if (message === undefined) return undefined;
  refuseOtherFields(message, FIELDS, scope);
  const monitors = message.resource_monitors ?? [];
  const known = new Set<string>();
  let limit: number | undefined;
  for (const [index, monitor] of monitors.entries()) {
    const place = scope.at('resource_monitors', index);
    const { name = '' } = monitor;
    if (known.has(name)) place.error('duplicate', `Duplicate resource monitor ${name}`);
    known.add(name);
    limit = MONITORS.resolve(monitor, place) ?? limit;
  }
  checkTriggers(message, known, scope);
  checkActions(message, scope);
  return limit;
}

function checkActions({ actions = [] }: OverloadManager, scope: Scope): void {
  const seen = new Set<string>();
  for (const [index, { name = '' }] of actions.entries()) {
    const place = scope.at('actions', index);
    if (!ACTIONS.has(name)) place.error('reference', `Unknown Overload Manager Action ${name}`);
    if (seen.has(name)) place.error('duplicate', `Duplicate overload action ${name}`);
    seen.add(name);
  }
}

function checkTriggers(message: OverloadManager, known: ReadonlySet<string>, scope: Scope): void {
  for (const [kind, list] of [
    ['actions', 'overload action'],
    ['loadshed_points', 'load shed point'],
  ] as const) {
    for (const [index, { name = '', triggers = [] }] of (message[kind] ?? []).entries()) {
      for (const [number, trigger] of triggers.entries()) {
        if (known.has(trigger.name ?? '')) continue;
        scope
          .at(kind, index, 'triggers', number)
          .error('reference', `Unknown trigger resource ${trigger.name ?? ''} for ${list} ${name}`);
      }
    }
  }
}
