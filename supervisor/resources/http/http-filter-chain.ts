/** Resolves the filters of an HTTP connection manager and checks their order. */
import type { HttpFilter as HttpFilterMessage } from '../../../shared/api/generated/envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager.ts';
import type { HttpFilter } from '../../../shared/resources/filters/http-filters.ts';
import { FILTERS } from '../filters/http-filters.ts';
import { knownFields, refuseOtherFields } from '../fields.ts';
import type { Scope } from '../scope.ts';
import { resolveDiscoveredFilter } from '../filters/http/discovered.ts';

const FIELDS = knownFields<HttpFilterMessage>([
  'name',
  'typed_config',
  'config_discovery',
  'is_optional',
  'disabled',
]);

export function resolveHttpFilters(
  messages: readonly HttpFilterMessage[] | undefined,
  scope: Scope,
): readonly HttpFilter[] {
  const filters: HttpFilter[] = [];
  const last = (messages ?? []).length - 1;
  for (const [index, message] of (messages ?? []).entries()) {
    const place = scope.at(index);
    refuseOtherFields(message, FIELDS, place);
    if (FILTERS.leavesOut(message, index === last, place)) continue;
    if (message.config_discovery !== undefined) {
      const discovered = resolveDiscovered(message, index === last, place);
      if (discovered !== undefined) filters.push(discovered);
      continue;
    }
    const found = FILTERS.find(message, place);
    if (found === undefined) continue;
    const { factory, config } = found;
    const { name = '' } = message;
    checkOrder({ name, type: factory.name, isTerminal: factory.isTerminal }, index === last, place);
    const isOff = message.disabled === true;
    if (isOff && factory.isTerminal) refuseDisabled(name, place);
    const filter = factory.resolve(config, place.at('typed_config'), name);
    if (filter !== undefined) filters.push(isOff ? { ...filter, isOffByDefault: true } : filter);
  }
  return filters;
}

/** Its settings come from elsewhere; what ends a chain must be known. */
function resolveDiscovered(
  message: HttpFilterMessage,
  isLast: boolean,
  scope: Scope,
): HttpFilter | undefined {
  const { name = '', config_discovery: discovery = {} } = message;
  const place = scope.at('config_discovery');
  if (isLast) {
    place.unsupported('a terminal filter with config_discovery is', 'give the router typed_config');
    return undefined;
  }
  const filter = resolveDiscoveredFilter(
    name,
    discovery,
    {
      isUpstream: false,
      isKnownType: (url) => FILTERS.knows({ typed_config: { '@type': url } }, scope),
      resolveDefault: (config) =>
        FILTERS.resolve({ name, typed_config: config }, place.at('default_config')),
    },
    place,
  );
  return filter && message.disabled === true ? { ...filter, isOffByDefault: true } : filter;
}

/** Settings that came from elsewhere; undefined after a reported problem. */
export function resolveFilterSettings(
  message: HttpFilterMessage,
  scope: Scope,
): HttpFilter | undefined {
  const found = FILTERS.find(message, scope);
  if (found === undefined) return undefined;
  const { factory, config } = found;
  const { name = '' } = message;
  checkOrder({ name, type: factory.name, isTerminal: factory.isTerminal }, false, scope);
  return factory.resolve(config, scope.at('typed_config'), name);
}

interface PlacedFilter {
  readonly name: string;
  readonly type: string;
  readonly isTerminal: boolean;
}

function checkOrder(filter: PlacedFilter, isLast: boolean, scope: Scope): void {
  const { name, type, isTerminal } = filter;
  if (isTerminal && !isLast) {
    scope.error(
      'conflict',
      `Error: terminal filter named ${name} of type ${type} must be the last filter in a http filter chain.`,
    );
  } else if (!isTerminal && isLast) {
    scope.error(
      'conflict',
      `Error: non-terminal filter named ${name} of type ${type} is the last filter in a http filter chain.`,
      'add envoy.filters.http.router as the last filter',
    );
  }
}

function refuseDisabled(name: string, scope: Scope): void {
  scope
    .at('disabled')
    .error(
      'conflict',
      `Error: the last (terminal) filter (${name}) in the chain cannot be disabled by default.`,
    );
}
