/** Resolves which protocol upgrades a route allows; CONNECT is refused until the codec carries it. */
import type { RouteAction_UpgradeConfig as UpgradeMessage } from '../../../shared/api/generated/envoy/config/route/v3/route_components.ts';
import type { UpgradeConfig } from '../../../shared/resources/route.ts';
import { asciiLower } from '../matchers/string-matcher.ts';
import type { Scope } from '../scope.ts';

export function resolveUpgrades(
  messages: readonly UpgradeMessage[] | undefined,
  scope: Scope,
): readonly UpgradeConfig[] {
  const seen = new Set<string>();
  return (messages ?? []).map((message, index) => {
    const place = scope.at(index);
    const name = message.upgrade_type ?? '';
    const type = asciiLower(name);
    if (seen.has(type)) place.at('upgrade_type').error('duplicate', `Duplicate upgrade ${name}`);
    seen.add(type);
    if (message.connect_config !== undefined && !type.startsWith('connect')) {
      place
        .at('connect_config')
        .error('conflict', `Non-CONNECT upgrade type ${name} has ConnectConfig`);
    }
    const enabled = message.enabled ?? true;
    if (enabled && type.startsWith('connect')) place.unsupported(`upgrade '${name}' is`);
    return { type, enabled, terminateConnect: message.connect_config !== undefined };
  });
}
