/** Checks the overload manager. No resource monitor is there yet, so what needs one is refused. */
import type { OverloadManager } from '../../../shared/api/generated/envoy/config/overload/v3/overload.ts';
import { ExtensionRegistry } from '../extensions.ts';
import { knownFields, refuseOtherFields } from '../fields.ts';
import type { Scope } from '../scope.ts';

const FIELDS = knownFields<OverloadManager>(
  ['resource_monitors', 'actions', 'loadshed_points'],
  ['refresh_interval', 'buffer_factory_config'],
);

const MONITORS = new ExtensionRegistry<never>('resource monitor', []);

export function checkOverloadManager(message: OverloadManager | undefined, scope: Scope): void {
  if (message === undefined) return;
  refuseOtherFields(message, FIELDS, scope);
  const monitors = message.resource_monitors ?? [];
  for (const [index, monitor] of monitors.entries()) {
    MONITORS.resolve(monitor, scope.at('resource_monitors', index));
  }
  const known = new Set(monitors.map(({ name = '' }) => name));
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
