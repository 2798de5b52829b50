/**
 * Lets requests pass whose JSON Web Tokens are good. Source: envoy.filters.http.jwt_authn, RFC 7519.
 */
import { type JwtStatus, statusText } from '../../../../shared/jwt/jwt-status.ts';
import {
  JWT_AUTHN,
  type JwtAuthnFilterSettings,
  type JwtAuthnOptions,
  type JwtAuthnPerRoute,
} from '../../../../shared/resources/filters/http/jwt-authn.ts';
import type { RouteMatch } from '../../../../shared/resources/routes/route.ts';
import type { Struct } from '../../../../shared/text/dictionary.ts';
import { compileConditions } from '../../../routing/route-conditions.ts';
import { compilePathMatcher } from '../../../routing/path-matcher.ts';
import type {
  DataStatus,
  FilterCallbacks,
  FilterFactory,
  HeadersStatus,
  TrailersStatus,
} from '../../../stream/filter.ts';
import type { HeaderMap } from '../../../stream/header-map.ts';
import { filterStateOf, type StreamInfo } from '../../../stream/stream-info.ts';
import { addMetadata } from '../../common/add-metadata.ts';
import { originalUri } from '../../common/original-uri.ts';
import type { FilterContext } from '../../filter-context.ts';
import { PassThroughFilter } from '../../pass-through-filter.ts';
import { type CountJwt, Provider } from './provider.ts';
import { type Requirement, RequirementCompiler, type Verification } from './requirements.ts';

const METADATA = 'envoy.filters.http.jwt_authn';

type Applies = (headers: HeaderMap, info: StreamInfo) => boolean;

interface CompiledJwtAuthn {
  readonly name: string;
  readonly options: JwtAuthnOptions;
  readonly context: FilterContext;
  readonly count: CountJwt;
  readonly rules: readonly {
    readonly applies: Applies;
    readonly requires: Requirement | undefined;
  }[];
  readonly named: ReadonlyMap<string, Requirement | undefined>;
  readonly ofFilterState: ReadonlyMap<string, Requirement | undefined>;
}

export function makeJwtAuthnFilter(
  { name, options }: JwtAuthnFilterSettings,
  context: FilterContext,
): FilterFactory {
  const { stats, statScope } = context;
  const base = stats.defineBlock(JWT_AUTHN, `${statScope}jwt_authn.${options.statPrefix}`);
  context.onBlock(base);
  const count: CountJwt = (stat) => stats.increment(base + JWT_AUTHN.index[stat]);
  const providers = new Map(
    options.providers.map((each) => [each.name, new Provider(each, context, count)]),
  );
  const compiler = new RequirementCompiler(providers);
  const compiled: CompiledJwtAuthn = {
    name,
    options,
    context,
    count,
    rules: options.rules.map(({ match, requires }) => ({
      applies: compileMatch(match, context),
      requires: compiler.compile(requires),
    })),
    named: new Map(
      [...options.requirements].map(([key, requires]) => [key, compiler.compile(requires)]),
    ),
    ofFilterState: new Map(
      [...(options.filterState?.requires ?? [])].map(([key, requires]) => [
        key,
        compiler.compile(requires),
      ]),
    ),
  };
  fetchAhead([...providers.values()], context);
  return { name, create: (callbacks) => new JwtAuthnFilter(compiled, callbacks) };
}

/** Keys that are to be there before the first token. */
function fetchAhead(providers: readonly Provider[], context: FilterContext): void {
  context.onRelease(() => {
    for (const provider of providers) provider.close();
  });
  for (const { settings, keys } of providers) {
    const { jwks } = settings;
    if (jwks.kind !== 'remote' || jwks.asyncFetch === undefined) continue;
    context.startTasks.add((done) => keys.fetchFirst(done), !jwks.asyncFetch.isFast);
  }
}

function compileMatch(match: RouteMatch, { runtime }: FilterContext): Applies {
  const path = compilePathMatcher(match.path, match.caseSensitive);
  const conditions = compileConditions(match, runtime);
  return (headers, info) => {
    const fits = path.isConnect
      ? headers.method === 'CONNECT'
      : path.matches(withoutQuery(headers.path));
    return fits && (conditions === undefined || conditions(headers, info));
  };
}

function withoutQuery(path: string): string {
  const end = path.search(/[?#]/);
  return end < 0 ? path : path.slice(0, end);
}

class JwtAuthnFilter extends PassThroughFilter implements Verification {
  readonly #compiled: CompiledJwtAuthn;
  readonly #callbacks: FilterCallbacks;
  #headers: HeaderMap | undefined = undefined;
  #cancels: (() => void)[] = [];
  /** As it came: tokens are taken out of it. */
  #path = '';
  #isWaiting = false;
  #isAnswered = false;

  constructor(compiled: CompiledJwtAuthn, callbacks: FilterCallbacks) {
    super();
    this.#compiled = compiled;
    this.#callbacks = callbacks;
  }

  override decodeHeaders(headers: HeaderMap): HeadersStatus {
    const { options, count } = this.#compiled;
    if (options.bypassesPreflight && isPreflight(headers)) {
      count('cors_preflight_bypassed');
      count('allowed');
      return 'continue';
    }
    const requirement = this.#requirement(headers);
    if (requirement === 'refused') return 'stop';
    if (requirement === undefined) {
      count('allowed');
      return 'continue';
    }
    this.#headers = headers;
    this.#path = headers.path;
    let status: JwtStatus | undefined;
    requirement.verify(this, (settled) => {
      status = settled;
      if (this.#isWaiting) this.#settleLater(settled);
    });
    if (status === undefined) {
      this.#isWaiting = true;
      return 'stop';
    }
    return this.#settle(status) ? 'continue' : 'stop';
  }

  override decodeData(): DataStatus {
    return this.#isWaiting ? 'stop_and_buffer' : 'continue';
  }

  override decodeTrailers(): TrailersStatus {
    return this.#isWaiting ? 'stop' : 'continue';
  }

  override onDestroy(): void {
    this.#isWaiting = false;
    for (const cancel of this.#cancels) cancel();
    this.#cancels = [];
  }

  // What verifications ask of their request.

  get headers(): HeaderMap {
    const headers = this.#headers;
    if (headers === undefined) throw new Error('tokens are verified before there is a request');
    return headers;
  }

  get nowSeconds(): number {
    return this.#compiled.context.loop.clock.wallMs / 1000;
  }

  addMetadata(values: Struct): void {
    addMetadata(this.#callbacks.info, METADATA, values);
  }

  clearRoute(): void {
    this.#callbacks.clearRoute();
  }

  onEnd(cancel: () => void): void {
    this.#cancels.push(cancel);
  }

  onException(): void {
    this.#callbacks.onException();
  }

  /** Undefined: nothing is asked for; `refused`: the request was answered. */
  #requirement(headers: HeaderMap): Requirement | undefined | 'refused' {
    const { name, named, rules, options, ofFilterState } = this.#compiled;
    const { info } = this.#callbacks;
    const ofRoute = this.#callbacks.routeConfig(name) as JwtAuthnPerRoute | undefined;
    if (ofRoute !== undefined) {
      const { requirement } = ofRoute;
      if (requirement === undefined) return undefined;
      if (named.has(requirement)) return named.get(requirement);
      this.#refuseName(requirement);
      return 'refused';
    }
    for (const { applies, requires } of rules) if (applies(headers, info)) return requires;
    if (options.filterState === undefined) return undefined;
    return ofFilterState.get(filterStateOf(info, options.filterState.name) ?? '');
  }

  #refuseName(requirement: string): void {
    const { named, count } = this.#compiled;
    const known = [...named.keys()].sort().join(',');
    const text = `Wrong requirement_name: ${requirement}. It should be one of [${known}]`;
    count('denied');
    this.#callbacks.sendLocalReply({
      status: 403,
      body: `Failed JWT authentication: ${text}`,
      details: detailsOf(text),
    });
  }

  #settleLater(status: JwtStatus): void {
    if (this.#isAnswered) return;
    this.#isWaiting = false;
    if (this.#settle(status)) this.#callbacks.continueDecoding();
  }

  /** True when the request goes on. */
  #settle(status: JwtStatus): boolean {
    const { count, options } = this.#compiled;
    this.#isAnswered = true;
    if (status === 'ok') {
      count('allowed');
      return true;
    }
    count('denied');
    const text = statusText(status);
    const reply = {
      status: status === 'wrongAudience' ? 403 : 401,
      body: options.stripsFailure ? '' : text,
      details: detailsOf(text),
    };
    const error = status === 'missing' ? '' : ', error="invalid_token"';
    const uri = originalUri(this.headers, this.#path);
    const modifyHeaders = (answer: HeaderMap): void =>
      answer.set('www-authenticate', `Bearer realm="${uri}"${error}`);
    this.#callbacks.sendLocalReply(options.stripsFailure ? reply : { ...reply, modifyHeaders });
    return false;
  }
}

function isPreflight(headers: HeaderMap): boolean {
  if (headers.method !== 'OPTIONS' || (headers.get('origin') ?? '') === '') return false;
  return (headers.get('access-control-request-method') ?? '') !== '';
}

function detailsOf(text: string): string {
  return `jwt_authn_access_denied{${text.replaceAll(' ', '_')}}`;
}
