/** Lets requests pass that bring a known key. Source: envoy.filters.http.api_key_auth. */
import { createHash } from 'node:crypto';
import {
  API_KEY_AUTH,
  type ApiKeyAuthFilterSettings,
  type ApiKeyAuthOptions,
  type KeyForwarding,
  type KeyPlace,
} from '../../../../shared/resources/filters/http/auth/api-key-auth.ts';
import { findCookie, removeCookies } from '../../../stream/cookies.ts';
import type { FilterCallbacks, FilterFactory, HeadersStatus } from '../../../stream/filter.ts';
import type { HeaderMap } from '../../../stream/header-map.ts';
import { decodedQueryValue, withoutParameter } from '../../../../shared/text/query-parameters.ts';
import { CompiledSettings, type FilterContext } from '../../filter-context.ts';
import { PassThroughFilter } from '../../pass-through-filter.ts';

interface CompiledKeys {
  readonly options: ApiKeyAuthOptions;
  /** By the key's hash, so that the time of a look-up says nothing of keys. */
  readonly clients: ReadonlyMap<string, string> | undefined;
  readonly allowed: ReadonlySet<string>;
}

interface ApiKeyParts {
  readonly name: string;
  readonly own: ApiKeyAuthOptions;
  readonly compiled: CompiledSettings<ApiKeyAuthOptions, CompiledKeys>;
  readonly count: (stat: keyof typeof API_KEY_AUTH.index) => void;
}

export function makeApiKeyAuthFilter(
  { name, options: own }: ApiKeyAuthFilterSettings,
  context: FilterContext,
): FilterFactory {
  const { stats, statScope } = context;
  const base = stats.defineBlock(API_KEY_AUTH, `${statScope}api_key_auth.`);
  context.onBlock(base);
  const parts: ApiKeyParts = {
    name,
    own,
    compiled: new CompiledSettings(compileKeys),
    count: (stat) => stats.increment(base + API_KEY_AUTH.index[stat]),
  };
  return { name, create: (callbacks) => new ApiKeyAuthFilter(parts, callbacks) };
}

function compileKeys(options: ApiKeyAuthOptions): CompiledKeys {
  const { clients } = options;
  return {
    options,
    clients: clients && new Map([...clients].map(([key, client]) => [hashOf(key), client])),
    allowed: new Set(options.allowedClients),
  };
}

function hashOf(key: string): string {
  return createHash('sha256').update(key, 'latin1').digest('base64');
}

const BEARER = 'Bearer ';

class ApiKeyAuthFilter extends PassThroughFilter {
  readonly #parts: ApiKeyParts;
  readonly #callbacks: FilterCallbacks;

  constructor(parts: ApiKeyParts, callbacks: FilterCallbacks) {
    super();
    this.#parts = parts;
    this.#callbacks = callbacks;
  }

  override decodeHeaders(headers: HeaderMap): HeadersStatus {
    const { name, own, compiled, count } = this.#parts;
    const ofRoute = this.#callbacks.routeConfig(name) as ApiKeyAuthOptions | undefined;
    const chain = compiled.of(own);
    const route = ofRoute === undefined ? undefined : compiled.of(ofRoute);
    const places = route?.options.places ?? own.places ?? [];
    const key = keyOf(headers, places);
    if (key === '') return this.#refuse('missing_api_key');
    const client = (route?.clients ?? chain.clients)?.get(hashOf(key));
    if (client === undefined) return this.#refuse('unknown_api_key');
    if (route !== undefined && route.allowed.size > 0 && !route.allowed.has(client)) {
      return this.#forbid();
    }
    // What a route says of anything takes the place of what the chain says of forwarding.
    forward(headers, client, places, (ofRoute ?? own).forwarding);
    count('allowed');
    return 'continue';
  }

  #forbid(): HeadersStatus {
    this.#parts.count('forbidden');
    this.#callbacks.sendLocalReply({
      status: 403,
      body: 'Client is forbidden.',
      details: 'client_not_allowed',
    });
    return 'stop';
  }

  #refuse(details: string): HeadersStatus {
    this.#parts.count('unauthorized');
    this.#callbacks.sendLocalReply({
      status: 401,
      body: 'Client authentication failed.',
      details,
    });
    return 'stop';
  }
}

function forward(
  headers: HeaderMap,
  client: string,
  places: readonly KeyPlace[],
  forwarding: KeyForwarding | undefined,
): void {
  if (forwarding === undefined) return;
  if (forwarding.header !== '') {
    headers.set(forwarding.header, Buffer.from(client).toString('latin1'));
  }
  if (forwarding.hidesKey) for (const place of places) removeKey(headers, place);
}

/** The key in the first place that has one; empty when none has. */
function keyOf(headers: HeaderMap, places: readonly KeyPlace[]): string {
  for (const place of places) {
    const key = keyAt(headers, place);
    if (key !== '') return key;
  }
  return '';
}

function keyAt(headers: HeaderMap, { kind, name }: KeyPlace): string {
  switch (kind) {
    case 'header': {
      const value = headers.get(name) ?? '';
      return value.startsWith(BEARER) ? value.slice(BEARER.length) : value;
    }
    case 'query':
      return decodedQueryValue(headers.path, name) ?? '';
    case 'cookie':
      return findCookie(headers, name) ?? '';
  }
}

function removeKey(headers: HeaderMap, { kind, name }: KeyPlace): void {
  if (kind === 'header') headers.remove(name);
  else if (kind === 'query') headers.path = withoutParameter(headers.path, name);
  else removeCookies(headers, (cookie) => cookie === name);
}
