/** Resolves the plugins that choose the cluster of a request: envoy.router.cluster_specifier_plugin. */
import type { ClusterSpecifierPlugin } from '../../../shared/api/generated/envoy/config/route/v3/route_components.ts';
import type { LuaConfig } from '../../../shared/api/generated/envoy/extensions/router/cluster_specifiers/lua/v3/lua.ts';
import type { OfKind } from '../../../shared/resources/by-kind.ts';
import type { ClusterSpecifier } from '../../../shared/resources/routes/route.ts';
import { toByteString } from '../../../shared/regex/byte-string.ts';
import { readDataSource } from '../data-source.ts';
import { loadScript } from '../lua-scripts.ts';
import { extension, ExtensionRegistry } from '../extensions.ts';
import { knownFields, refuseOtherFields } from '../fields.ts';
import type { Scope } from '../scope.ts';

const FIELDS = knownFields<ClusterSpecifierPlugin>(['extension'], ['is_optional']);
const LUA_FIELDS = knownFields<LuaConfig>(['source_code', 'default_cluster']);

export const CLUSTER_PLUGINS = new ExtensionRegistry<OfKind<ClusterSpecifier, 'script'>>(
  'envoy.router.cluster_specifier_plugin',
  'cluster specifier plugin',
  {
    script: extension(
      'envoy.router.cluster_specifier_plugin.lua',
      'envoy.extensions.router.cluster_specifiers.lua.v3.LuaConfig',
      resolveScript,
    ),
  },
);

export function resolveClusterPlugin(
  message: ClusterSpecifierPlugin,
  scope: Scope,
): ClusterSpecifier | undefined {
  refuseOtherFields(message, FIELDS, scope);
  return message.extension && CLUSTER_PLUGINS.resolve(message.extension, scope.at('extension'));
}

/** The clusters that it names are known when it names them. */
function resolveScript(
  message: LuaConfig,
  scope: Scope,
): OfKind<ClusterSpecifier, 'script'> | undefined {
  refuseOtherFields(message, LUA_FIELDS, scope);
  const { source_code: code = {}, default_cluster: defaultCluster = '' } = message;
  const place = scope.at('source_code');
  const bytes = readDataSource(code, place);
  if (bytes === undefined) return undefined;
  const source = bytes.toString('latin1');
  const script = loadScript(source, place);
  if (source.includes('getCluster')) place.unsupported("the function 'getCluster' of scripts is");
  return { kind: 'script', script, defaultCluster: toByteString(defaultCluster) };
}
