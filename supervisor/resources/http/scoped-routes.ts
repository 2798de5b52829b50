/** Resolves scoped routes: how a request's key is made, and the scopes that stand inline. */
import type { ScopedRouteConfiguration } from '../../../shared/api/generated/envoy/config/route/v3/scoped_route.ts';
import type {
  ScopedRoutes as ScopedRoutesMessage,
  ScopedRoutes_ScopeKeyBuilder_FragmentBuilder as FragmentBuilder,
} from '../../../shared/api/generated/envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager.ts';
import { toByteString } from '../../../shared/regex/byte-string.ts';
import type {
  InlineScope,
  ScopedRoutes,
  ScopeKeyFragment,
} from '../../../shared/resources/routes/scoped-routes.ts';
import { resolveConfigSource } from '../config-source.ts';
import { knownFields, refuseOtherFields } from '../fields.ts';
import { asciiLower } from '../matchers/string-matcher.ts';
import { resolveRouteConfiguration } from '../routes/route-configuration.ts';
import type { Scope } from '../scope.ts';

const FIELDS = knownFields<ScopedRoutesMessage>([
  'name',
  'scope_key_builder',
  'rds_config_source',
  'scoped_route_configurations_list',
  'scoped_rds',
]);

/** Undefined after a reported problem. */
export function resolveScopedRoutes(
  message: ScopedRoutesMessage,
  statPrefix: string,
  scope: Scope,
): ScopedRoutes | undefined {
  refuseOtherFields(message, FIELDS, scope);
  const place = scope.at('scope_key_builder', 'fragments');
  const fragments = (message.scope_key_builder?.fragments ?? []).map((fragment, index) =>
    resolveFragment(fragment, place.at(index)),
  );
  if (!fragments.every((fragment) => fragment !== undefined)) return undefined;
  const list = message.scoped_route_configurations_list?.scoped_route_configurations;
  if (list !== undefined) {
    const scopes = resolveInline(list, scope.at('scoped_route_configurations_list'));
    scope.context.onInlineScopes?.({ name: message.name ?? '', scopes: list });
    return { kind: 'scoped', fragments, scopes: { kind: 'inline', scopes } };
  }
  const name = nameScopes(message, statPrefix, scope);
  return name === undefined
    ? undefined
    : { kind: 'scoped', fragments, scopes: { kind: 'named', name } };
}

/** The parts of one scope; a route configuration beside it is its owner's matter. */
export function scopeKeyParts({ key }: ScopedRouteConfiguration): readonly string[] {
  return (key?.fragments ?? []).map(({ string_key: text = '' }) => toByteString(text));
}

function resolveFragment(
  { header_value_extractor: extractor }: FragmentBuilder,
  scope: Scope,
): ScopeKeyFragment | undefined {
  const place = scope.at('header_value_extractor');
  const { name = '', element_separator: separator = '', element, index } = extractor ?? {};
  const header = asciiLower(name);
  if (element !== undefined) {
    const { key = '', separator: between = '' } = element;
    const parts = { key: toByteString(key), separator: toByteString(between) };
    return { header, separator: toByteString(separator), element: { kind: 'key', ...parts } };
  }
  if (index === undefined) {
    refuseRule('HeaderValueExtractor extract_type not set.', place);
    return undefined;
  }
  if (separator === '' && index > 0) {
    refuseRule('Index > 0 for empty string element separator.', place);
    return undefined;
  }
  return { header, separator: toByteString(separator), element: { kind: 'index', index } };
}

function refuseRule(reason: string, place: Scope): void {
  place.error('conflict', `Proto constraint validation failed (${reason})`);
}

/** The later of two scopes with one key holds, as in Envoy. */
function resolveInline(
  list: readonly ScopedRouteConfiguration[],
  scope: Scope,
): readonly InlineScope[] {
  return list.flatMap((each, index) => {
    const place = scope.at('scoped_route_configurations', index);
    if (each.route_configuration_name !== undefined) {
      place
        .at('route_configuration_name')
        .error(
          'conflict',
          'Fetching routes via RDS (route_configuration_name) is not supported with inline scoped routes.',
        );
      return [];
    }
    if (each.route_configuration === undefined) {
      place.error('conflict', 'You must specify a route_configuration with inline scoped routes.');
      return [];
    }
    const source = { validatesClusters: false, isKnownCluster: () => true };
    const at = place.at('route_configuration');
    const config = resolveRouteConfiguration(each.route_configuration, source, at);
    return [{ key: scopeKeyParts(each), config }];
  });
}

function nameScopes(
  { name = '', scoped_rds: scoped, rds_config_source: rds }: ScopedRoutesMessage,
  statPrefix: string,
  scope: Scope,
): string | undefined {
  if (scoped === undefined) return undefined;
  const place = scope.at('scoped_rds');
  refuseOtherFields(scoped, SCOPED_RDS_FIELDS, place);
  const at = place.at('scoped_rds_config_source');
  const source =
    scoped.scoped_rds_config_source && resolveConfigSource(scoped.scoped_rds_config_source, at);
  const routesSource = rds && resolveConfigSource(rds, scope.at('rds_config_source'));
  if (source === undefined || (rds !== undefined && routesSource === undefined)) return undefined;
  const named = {
    name,
    source,
    statPrefix,
    ...(routesSource === undefined ? {} : { routesSource }),
  };
  const key = `${name} ${JSON.stringify(named)}`;
  scope.context.onNamedScopes?.({ key, ...named });
  return key;
}

const SCOPED_RDS_FIELDS = knownFields<NonNullable<ScopedRoutesMessage['scoped_rds']>>([
  'scoped_rds_config_source',
]);
