/**
 * Refuses requests that change something and come from another site. Source:
 * envoy.filters.http.csrf.
 */
import type {
  CsrfPolicy,
  CsrfFilterSettings,
} from '../../../shared/resources/filters/http/csrf.ts';
import { CSRF } from '../../../shared/resources/filters/http/csrf.ts';
import type { FilterCallbacks, FilterFactory, HeadersStatus } from '../../stream/filter.ts';
import type { HeaderMap } from '../../stream/header-map.ts';
import {
  compileStringMatcher,
  type TextPredicate,
} from '../../../shared/matchers/string-matcher.ts';
import { isEnabled } from '../../loop/runtime.ts';
import { CompiledSettings, type FilterContext } from '../filter-context.ts';
import { PassThroughFilter } from '../pass-through-filter.ts';

const MODIFYING_METHODS: readonly string[] = ['POST', 'PUT', 'DELETE', 'PATCH'];

interface CsrfParts {
  readonly name: string;
  readonly own: CsrfPolicy;
  readonly context: FilterContext;
  readonly base: number;
  readonly origins: CompiledSettings<CsrfPolicy, readonly TextPredicate[]>;
}

export function makeCsrfFilter(
  { name, options: own }: CsrfFilterSettings,
  context: FilterContext,
): FilterFactory {
  const base = context.stats.defineBlock(CSRF, `${context.statScope}csrf.`);
  context.onBlock(base);
  const origins = new CompiledSettings((policy: CsrfPolicy) =>
    policy.additionalOrigins.map((matcher) => compileStringMatcher(matcher)),
  );
  const parts: CsrfParts = { name, own, context, base, origins };
  return { name, create: (callbacks) => new CsrfFilter(parts, callbacks) };
}

class CsrfFilter extends PassThroughFilter {
  readonly #parts: CsrfParts;
  readonly #callbacks: FilterCallbacks;

  constructor(parts: CsrfParts, callbacks: FilterCallbacks) {
    super();
    this.#parts = parts;
    this.#callbacks = callbacks;
  }

  override decodeHeaders(headers: HeaderMap): HeadersStatus {
    const { name, own, context, base } = this.#parts;
    const { runtime, stats } = context;
    const policy = (this.#callbacks.routeConfig(name) as CsrfPolicy | undefined) ?? own;
    const isOn = isEnabled(policy.enabled, runtime, runtime.random());
    const { shadowEnabled } = policy;
    const isShadow =
      shadowEnabled !== undefined && isEnabled(shadowEnabled, runtime, runtime.random());
    if ((!isOn && !isShadow) || !MODIFYING_METHODS.includes(headers.method)) return 'continue';
    const origin = sourceOrigin(headers);
    const isValid = origin !== '' && this.#isValid(origin, headers.authority, policy);
    if (origin === '') stats.increment(base + CSRF.index.missing_source_origin);
    else stats.increment(base + (isValid ? CSRF.index.request_valid : CSRF.index.request_invalid));
    if (isValid || !isOn) return 'continue';
    this.#callbacks.sendLocalReply({
      status: 403,
      body: 'Invalid origin',
      details: 'csrf_origin_mismatch',
    });
    return 'stop';
  }

  #isValid(origin: string, target: string, policy: CsrfPolicy): boolean {
    return origin === target || this.#parts.origins.of(policy).some((matches) => matches(origin));
  }
}

/** Host and port of where the request was made; empty when the request does not say. */
function sourceOrigin(headers: HeaderMap): string {
  const origin = hostOf(headers.get('origin') ?? '');
  return origin === '' ? hostOf(headers.get('referer') ?? '') : origin;
}

/** What is no absolute address is compared as it stands. */
function hostOf(text: string): string {
  if (text === 'null') return '';
  const schemeEnd = text.indexOf('://');
  if (schemeEnd < 0) return text;
  const rest = text.slice(schemeEnd + 3);
  const end = rest.search(/[/?#]/);
  return end < 0 ? rest : rest.slice(0, end);
}
