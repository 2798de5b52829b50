/**
 * Resolves the HTTP filters between the router and connections to hosts, which every attempt passes:
 * those of a cluster, and those of a router for clusters without any. The codec ends each list.
 */
import type { HttpFilter as HttpFilterMessage } from '../../../shared/api/generated/envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager.ts';
import type { HttpFilter } from '../../../shared/resources/filters/http-filters.ts';
import { extension, ExtensionRegistry, type ExtensionMessage } from '../extensions.ts';
import { knownFields, refuseOtherFields } from '../fields.ts';
import type { Scope } from '../scope.ts';
import { ADMISSION_CONTROL_FILTER } from './http/admission-control.ts';
import { CREDENTIAL_INJECTOR_FILTER } from './http/auth/credential-injector.ts';
import { AWS_LAMBDA_FILTER } from './http/aws/lambda.ts';
import { AWS_REQUEST_SIGNING_FILTER } from './http/aws/request-signing.ts';
import { BODY_SIZE_LIMIT_FILTER } from './http/limits/body-size-limit.ts';
import { BUFFER_FILTER } from './http/limits/buffer.ts';
import { COMPRESSOR_FILTER } from './http/compressor/compressor.ts';
import { resolveDiscoveredFilter } from './http/discovered.ts';
import { EXT_PROC_FILTER } from './http/ext-proc/ext-proc.ts';
import { HEADER_MUTATION_FILTER } from './http/header-mutation.ts';
import { LUA_FILTER } from './http/lua.ts';
import { compositeFilter, matchedFilter } from './http/matching/composite.ts';
import { RBAC_FILTER } from './http/rbac/rbac.ts';

const CODEC = 'envoy.filters.http.upstream_codec';
const CODEC_TYPE = 'envoy.extensions.filters.http.upstream_codec.v3.UpstreamCodec';

/** Undefined: the codec, which leaves nothing to do in workers. */
type Resolved = HttpFilter | undefined;

export const UPSTREAM_FILTERS = new ExtensionRegistry<Resolved>(
  'envoy.filters.http.upstream',
  'upstream HTTP filter',
  [
    extension(CODEC, CODEC_TYPE, () => undefined),
    ADMISSION_CONTROL_FILTER,
    AWS_LAMBDA_FILTER,
    AWS_REQUEST_SIGNING_FILTER,
    BODY_SIZE_LIMIT_FILTER,
    BUFFER_FILTER,
    COMPRESSOR_FILTER,
    CREDENTIAL_INJECTOR_FILTER,
    EXT_PROC_FILTER,
    HEADER_MUTATION_FILTER,
    LUA_FILTER,
    RBAC_FILTER,
    compositeFilter(resolveInner),
    matchedFilter(resolveInner),
  ],
);

const FIELDS = knownFields<HttpFilterMessage>([
  'name',
  'typed_config',
  'config_discovery',
  'disabled',
  'is_optional',
]);

type Messages = readonly HttpFilterMessage[];

export function resolveClusterFilters(messages: Messages, scope: Scope): readonly HttpFilter[] {
  return resolveFilters(messages, scope, (place) =>
    place.error(
      'conflict',
      `The codec filter is the only valid terminal upstream HTTP filter, use '${CODEC_TYPE}'`,
    ),
  );
}

export function resolveRouterFilters(messages: Messages, scope: Scope): readonly HttpFilter[] {
  return resolveFilters(messages, scope, (place, { name, type }) =>
    place.error(
      'conflict',
      `Error: non-terminal filter named ${name} of type ${type} is the last filter in a router upstream http filter chain. When upstream_http_filters are specified, they must explicitly end with an UpstreamCodec filter.`,
    ),
  );
}

interface NamedFilter {
  readonly name: string;
  /** The canonical name. */
  readonly type: string;
}

/** Without the codec; `refuseLast` reports that something else ends the list. */
function resolveFilters(
  messages: Messages,
  scope: Scope,
  refuseLast: (place: Scope, last: NamedFilter) => void,
): readonly HttpFilter[] {
  const filters: HttpFilter[] = [];
  for (const [index, message] of messages.entries()) {
    const place = scope.at(index);
    refuseOtherFields(message, FIELDS, place);
    const isLast = index === messages.length - 1;
    if (UPSTREAM_FILTERS.leavesOut(message, isLast, place)) continue;
    if (message.config_discovery !== undefined) {
      const discovered = resolveDiscovered(message, place);
      if (isLast) refuseLast(place, { name: message.name ?? '', type: 'discovered' });
      if (discovered !== undefined) filters.push(discovered);
      continue;
    }
    const found = UPSTREAM_FILTERS.find(message, place);
    if (found === undefined) continue;
    const { factory, config } = found;
    const { name = '' } = message;
    const isCodec = factory.name === CODEC;
    if (isLast && !isCodec) refuseLast(place, { name, type: factory.name });
    if (isCodec) checkCodec(message, isLast, place);
    const filter = factory.resolve(config, place.at('typed_config'), name);
    if (filter === undefined) continue;
    filters.push(message.disabled === true ? { ...filter, isOffByDefault: true } : filter);
  }
  return filters;
}

/** Its settings come from elsewhere. */
function resolveDiscovered(message: HttpFilterMessage, scope: Scope): HttpFilter | undefined {
  const { name = '', config_discovery: discovery = {} } = message;
  const place = scope.at('config_discovery');
  const filter = resolveDiscoveredFilter(
    name,
    discovery,
    {
      isUpstream: true,
      isKnownType: (url) => UPSTREAM_FILTERS.knows({ typed_config: { '@type': url } }, scope),
      resolveDefault: (config) =>
        UPSTREAM_FILTERS.resolve({ name, typed_config: config }, place.at('default_config')),
    },
    place,
  );
  return filter && message.disabled === true ? { ...filter, isOffByDefault: true } : filter;
}

/** Settings that came apart from their filter; what they are for never ends a list. */
export function resolveUpstreamSettings(
  message: HttpFilterMessage,
  scope: Scope,
): HttpFilter | undefined {
  const found = UPSTREAM_FILTERS.find(message, scope);
  if (found === undefined) return undefined;
  const { factory, config } = found;
  const { name = '' } = message;
  if (factory.name === CODEC) checkCodec(message, false, scope);
  return factory.resolve(config, scope.at('typed_config'), name);
}

function checkCodec({ name = '', disabled }: HttpFilterMessage, isLast: boolean, place: Scope) {
  if (!isLast) {
    const what = `terminal filter named ${name} of type ${CODEC}`;
    place.error(
      'conflict',
      `Error: ${what} must be the last filter in a upstream http filter chain.`,
    );
  } else if (disabled === true) {
    const what = `the last (terminal) filter (${name}) in the chain`;
    place.at('disabled').error('conflict', `Error: ${what} cannot be disabled by default.`);
  }
}

/** A filter inside of another, which never ends a list. */
function resolveInner(
  message: ExtensionMessage,
  scope: Scope,
  name = message.name ?? '',
): HttpFilter | undefined {
  const found = UPSTREAM_FILTERS.find(message, scope);
  return found?.factory.resolve(found.config, scope.at('typed_config'), name);
}

resolveInner.isUpstream = true;
resolveInner.isKnownType = (url: string, scope: Scope): boolean =>
  UPSTREAM_FILTERS.knows({ typed_config: { '@type': url } }, scope);
