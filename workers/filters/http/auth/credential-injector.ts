/** Gives requests a credential of the proxy's own. Source: envoy.filters.http.credential_injector. */
import {
  CREDENTIAL_INJECTOR,
  type CredentialInjectorFilterSettings,
  type CredentialInjectorOptions,
} from '../../../../shared/resources/filters/http/auth/credential-injector.ts';
import type { FilterCallbacks, FilterFactory, HeadersStatus } from '../../../stream/filter.ts';
import type { HeaderMap } from '../../../stream/header-map.ts';
import { secretText } from '../../common/generic-secret.ts';
import type { FilterContext } from '../../filter-context.ts';
import { PassThroughFilter } from '../../pass-through-filter.ts';

interface InjectorParts {
  readonly options: CredentialInjectorOptions;
  readonly context: FilterContext;
  readonly count: (stat: keyof typeof CREDENTIAL_INJECTOR.index) => void;
}

export function makeCredentialInjectorFilter(
  { name, options }: CredentialInjectorFilterSettings,
  context: FilterContext,
): FilterFactory {
  const { stats, statScope } = context;
  const base = stats.defineBlock(CREDENTIAL_INJECTOR, `${statScope}credential_injector.`);
  context.onBlock(base);
  const parts: InjectorParts = {
    options,
    context,
    count: (stat) => stats.increment(base + CREDENTIAL_INJECTOR.index[stat]),
  };
  return { name, create: (callbacks) => new CredentialInjectorFilter(parts, callbacks) };
}

class CredentialInjectorFilter extends PassThroughFilter {
  readonly #parts: InjectorParts;
  readonly #callbacks: FilterCallbacks;

  constructor(parts: InjectorParts, callbacks: FilterCallbacks) {
    super();
    this.#parts = parts;
    this.#callbacks = callbacks;
  }

  override decodeHeaders(headers: HeaderMap): HeadersStatus {
    const { options, context, count } = this.#parts;
    const { secret, header, prefix } = options.credential;
    if (!options.overwrite && headers.has(header)) {
      count('already_exists');
      return 'continue';
    }
    const value = secretText(secret, context.secrets);
    if (value !== '') {
      headers.set(header, prefix + value);
      count('injected');
      return 'continue';
    }
    count('failed');
    if (options.allowsMissing) return 'continue';
    this.#callbacks.sendLocalReply({
      status: 401,
      body: 'Failed to inject credential.',
      details: 'failed_to_inject_credential',
    });
    return 'stop';
  }
}
