/** Gives requests a credential of the proxy's own. Source: envoy.filters.http.credential_injector. */
import { KindTable } from '../../../../shared/resources/by-kind.ts';
import {
  CREDENTIAL_INJECTOR,
  type CredentialInjectorFilterSettings,
  type CredentialInjectorOptions,
  type InjectedCredential,
} from '../../../../shared/resources/filters/http/auth/credential-injector.ts';
import type { FilterCallbacks, FilterFactory, HeadersStatus } from '../../../stream/filter.ts';
import type { HeaderMap } from '../../../stream/header-map.ts';
import { secretText } from '../../common/generic-secret.ts';
import type { FilterContext } from '../../filter-context.ts';
import { InjectedToken } from './injected-token.ts';
import { PassThroughFilter } from '../../pass-through-filter.ts';

/** Where a credential goes, and its present value, which is empty while there is none. */
interface PresentCredential {
  readonly header: string;
  readonly value: () => string;
}

interface InjectorParts extends PresentCredential {
  readonly options: CredentialInjectorOptions;
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
    ...CREDENTIALS.make(options.credential, context),
    count: (stat) => stats.increment(base + CREDENTIAL_INJECTOR.index[stat]),
  };
  return { name, create: (callbacks) => new CredentialInjectorFilter(parts, callbacks) };
}

const CREDENTIALS = new KindTable<InjectedCredential, [FilterContext], PresentCredential>({
  secret: ({ secret, header, prefix }, { secrets }) => ({
    header,
    value: () => {
      const text = secretText(secret, secrets);
      return text === '' ? '' : prefix + text;
    },
  }),
  token: (credential, context) => {
    const token = new InjectedToken(credential, context);
    return { header: 'authorization', value: () => token.value };
  },
});

class CredentialInjectorFilter extends PassThroughFilter {
  readonly #parts: InjectorParts;
  readonly #callbacks: FilterCallbacks;

  constructor(parts: InjectorParts, callbacks: FilterCallbacks) {
    super();
    this.#parts = parts;
    this.#callbacks = callbacks;
  }

  override decodeHeaders(headers: HeaderMap): HeadersStatus {
    const { options, header, count } = this.#parts;
    if (!options.overwrite && headers.has(header)) {
      count('already_exists');
      return 'continue';
    }
    const value = this.#parts.value();
    if (value !== '') {
      headers.set(header, value);
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
