/**
 * Lets requests pass by quotas that a service assigns to buckets of them; the service is told what
 * passed, no request waits for it. Source: envoy.filters.http.rate_limit_quota.
 */
import type { QuotaId } from '../../../../shared/messages/quota-steps.ts';
import type {
  QuotaBucketSettings,
  QuotaRules,
  RateLimitQuotaFilterSettings,
} from '../../../../shared/resources/filters/http/limits/rate-limit-quota.ts';
import { isEnabled } from '../../../loop/runtime.ts';
import { compileMatchInput, type InputReader } from '../../../matching/match-inputs.ts';
import { compileMatcherTree, type TreeMatcher } from '../../../matching/matcher-tree.ts';
import { compileHeaderMutations, type HeaderMutation } from '../../../routing/header-mutations.ts';
import type { FilterCallbacks, FilterFactory, HeadersStatus } from '../../../stream/filter.ts';
import type { HeaderMap } from '../../../stream/header-map.ts';
import { JOINED_IN_REQUESTS, JOINED_IN_RESPONSES } from '../../../stream/joined-headers.ts';
import { ResponseFlag } from '../../../stream/response-flags.ts';
import type { StreamInfo } from '../../../stream/stream-info.ts';
import { CompiledSettings, type FilterContext } from '../../filter-context.ts';
import { PassThroughFilter } from '../../pass-through-filter.ts';
import type { QuotaClient } from './quota-client.ts';
import { sortedId } from './quota-messages.ts';

const DETAILS = 'rate_limited_by_quota';

interface CompiledBucket {
  readonly settings: QuotaBucketSettings;
  readonly entries: readonly (readonly [key: string, read: InputReader])[];
  readonly changes: HeaderMutation | undefined;
}

interface CompiledRules {
  readonly match: TreeMatcher<CompiledBucket> | undefined;
  readonly client: QuotaClient;
}

interface QuotaParts {
  readonly name: string;
  readonly own: RateLimitQuotaFilterSettings['options'];
  readonly context: FilterContext;
  readonly rules: CompiledSettings<QuotaRules, CompiledRules>;
  readonly notEnforced: HeaderMutation | undefined;
}

export function makeRateLimitQuotaFilter(
  { name, options: own }: RateLimitQuotaFilterSettings,
  context: FilterContext,
): FilterFactory {
  const clients = new Map<string, QuotaClient>();
  const leaves: (() => void)[] = [];
  let isReleased = false;
  context.onRelease(() => {
    isReleased = true;
    for (const leave of leaves) leave();
  });
  const clientOf = (domain: string): QuotaClient => {
    const known = clients.get(domain);
    if (known !== undefined) return known;
    const group = JSON.stringify([own.target, domain]);
    const { client, leave } = context.quotas.join(group, () => ({
      domain,
      service: context.grpc.service(own.target),
      states: (number, part) => context.processState(JSON.stringify([group, number, part])),
    }));
    clients.set(domain, client);
    // Requests may go on when the filter is gone.
    if (isReleased) leave();
    else leaves.push(leave);
    return client;
  };
  const parts: QuotaParts = {
    name,
    own,
    context,
    rules: new CompiledSettings(({ domain, tree }: QuotaRules) => ({
      match: tree && compileMatcherTree(tree, compileBucket, context.runtime),
      client: clientOf(domain === '' ? own.domain : domain),
    })),
    notEnforced: compileHeaderMutations(
      [{ add: own.notEnforcedHeaders, remove: [] }],
      JOINED_IN_REQUESTS,
    ),
  };
  return { name, create: (callbacks) => new RateLimitQuotaFilter(parts, callbacks) };
}

function compileBucket(settings: QuotaBucketSettings): CompiledBucket {
  return {
    settings,
    entries: settings.id.map(({ key, value }) => {
      if (value.kind === 'input') return [key, compileMatchInput(value.input)];
      const { text } = value;
      return [key, () => text];
    }),
    changes: compileHeaderMutations(
      [{ add: settings.denial.headers, remove: [] }],
      JOINED_IN_RESPONSES,
    ),
  };
}

class RateLimitQuotaFilter extends PassThroughFilter {
  readonly #parts: QuotaParts;
  readonly #callbacks: FilterCallbacks;

  constructor(parts: QuotaParts, callbacks: FilterCallbacks) {
    super();
    this.#parts = parts;
    this.#callbacks = callbacks;
  }

  override decodeHeaders(headers: HeaderMap): HeadersStatus {
    const { name, own, context, rules, notEnforced } = this.#parts;
    const { runtime } = context;
    const { info } = this.#callbacks;
    if (own.enabled !== undefined && !isEnabled(own.enabled, runtime, runtime.random())) {
      return 'continue';
    }
    const ofRoute = this.#callbacks.routeConfig(name) as QuotaRules | undefined;
    const { match, client } = rules.of(ofRoute ?? own);
    const bucket = match?.(headers, info);
    const id = bucket && idOf(bucket, headers, info);
    if (bucket === undefined || id === undefined || client.take(id, bucket.settings)) {
      return 'continue';
    }
    if (own.enforced !== undefined && !isEnabled(own.enforced, runtime, runtime.random())) {
      notEnforced?.(headers, info);
      return 'continue';
    }
    this.#deny(bucket);
    return 'stop';
  }

  #deny({ settings: { denial }, changes }: CompiledBucket): void {
    const { info } = this.#callbacks;
    // Envoy marks these answers so.
    info.responseFlags |= ResponseFlag.responseFromCacheFilter;
    this.#callbacks.sendLocalReply({
      status: denial.status,
      body: denial.body,
      details: DETAILS,
      grpcStatus: denial.grpcStatus,
      modifyHeaders: (headers) => changes?.(headers, info),
    });
  }
}

/** Undefined where a part of it is not there: the request belongs to no bucket. */
function idOf(
  { entries }: CompiledBucket,
  headers: HeaderMap,
  info: StreamInfo,
): QuotaId | undefined {
  const id: (readonly [string, string])[] = [];
  for (const [key, read] of entries) {
    const value = read(headers, info);
    if (typeof value !== 'string' || value === '') return undefined;
    id.push([key, value]);
  }
  return sortedId(id);
}
