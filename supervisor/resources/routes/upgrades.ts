/** Resolves which protocol upgrades a route allows, and whether a CONNECT ends here. */
import type {
  RouteAction_UpgradeConfig as UpgradeMessage,
  RouteAction_UpgradeConfig_ConnectConfig as ConnectMessage,
} from '../../../shared/api/generated/envoy/config/route/v3/route_components.ts';
import type { UpgradeConfig } from '../../../shared/resources/routes/route.ts';
import { knownFields, refuseOtherFields } from '../fields.ts';
import { asciiLower } from '../matchers/string-matcher.ts';
import type { Scope } from '../scope.ts';

const CONNECT_FIELDS = knownFields<ConnectMessage>(['allow_post']);

export function resolveUpgrades(
  messages: readonly UpgradeMessage[] | undefined,
  scope: Scope,
): readonly UpgradeConfig[] {
  const seen = new Set<string>();
  return (messages ?? []).map((message, index) => {
    const place = scope.at(index);
    const name = message.upgrade_type ?? '';
    const type = asciiLower(name);
    const { connect_config: connect } = message;
    if (seen.has(type)) place.at('upgrade_type').error('duplicate', `Duplicate upgrade ${name}`);
    seen.add(type);
    if (connect !== undefined) {
      const at = place.at('connect_config');
      if (!type.startsWith('connect')) {
        at.error('conflict', `Non-CONNECT upgrade type ${name} has ConnectConfig`);
      }
      refuseOtherFields(connect, CONNECT_FIELDS, at);
    }
    return {
      type,
      enabled: message.enabled ?? true,
      terminateConnect: connect !== undefined,
      allowPost: connect?.allow_post ?? false,
    };
  });
}
