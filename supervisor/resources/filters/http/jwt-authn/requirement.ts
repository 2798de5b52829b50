/** Resolves envoy.extensions.filters.http.jwt_authn.v3.JwtRequirement. */
import { meantName } from '../../../meant-name.ts';
import type { Dictionary } from '../../../../../shared/text/dictionary.ts';
import type {
  JwtRequirement as RequirementMessage,
  ProviderWithAudiences,
} from '../../../../../shared/api/generated/envoy/extensions/filters/http/jwt_authn/v3/config.ts';
import type { JwtRequirement } from '../../../../../shared/resources/filters/http/jwt-authn.ts';
import { knownFields, refuseOtherFields } from '../../../fields.ts';
import { asciiLower } from '../../../matchers/string-matcher.ts';
import type { Scope } from '../../../scope.ts';

const FIELDS = knownFields<RequirementMessage>([
  'provider_name',
  'provider_and_audiences',
  'requires_any',
  'requires_all',
  'allow_missing_or_failed',
  'allow_missing',
  'extract_only_without_validation',
]);
const AUDIENCE_FIELDS = knownFields<ProviderWithAudiences>(['provider_name', 'audiences']);
const FAILURE_HEADER = 'x-jwt-signature-verified';

export function wrongName(name: string, known: readonly string[]): string {
  const names = known.toSorted().join(',');
  return `Wrong requirement_name: ${name}. It should be one of [${names}]`;
}

export class RequirementResolver {
  readonly #providers: ReadonlySet<string>;

  constructor(providers: ReadonlySet<string>) {
    this.#providers = providers;
  }

  map(messages: Dictionary<RequirementMessage>, scope: Scope): ReadonlyMap<string, JwtRequirement> {
    return new Map(
      Object.entries(messages).map(([name, each]) => [name, this.resolve(each, scope.at(name))]),
    );
  }

  resolve(message: RequirementMessage, scope: Scope): JwtRequirement {
    refuseOtherFields(message, FIELDS, scope);
    const { provider_name: provider, provider_and_audiences: both } = message;
    if (provider !== undefined) return this.#provider(provider, scope);
    if (both !== undefined) {
      refuseOtherFields(both, AUDIENCE_FIELDS, scope.at('provider_and_audiences'));
      const requirement = this.#provider(both.provider_name ?? '', scope);
      return { ...requirement, audiences: both.audiences ?? [] };
    }
    if (message.requires_any !== undefined) return this.#group('any', message, scope);
    if (message.requires_all !== undefined) return this.#group('all', message, scope);
    if (message.allow_missing_or_failed !== undefined) return { kind: 'allow_missing_or_failed' };
    if (message.allow_missing !== undefined) return { kind: 'allow_missing' };
    const extract = message.extract_only_without_validation;
    if (extract === undefined) return { kind: 'none' };
    const { verification_status_header: header = '' } = extract;
    return {
      kind: 'extract_only',
      failureHeader: header === '' ? FAILURE_HEADER : asciiLower(header),
    };
  }

  #provider(
    provider: string,
    scope: Scope,
  ): Extract<JwtRequirement, { readonly kind: 'provider' }> {
    if (!this.#providers.has(provider)) {
      const text = `Required provider ['${provider}'] is not configured.`;
      scope.error('reference', text, meantName(provider, this.#providers));
    }
    return { kind: 'provider', provider };
  }

  #group(kind: 'any' | 'all', message: RequirementMessage, scope: Scope): JwtRequirement {
    const field = kind === 'any' ? 'requires_any' : 'requires_all';
    const place = scope.at(field, 'requirements');
    const requirements = (message[field]?.requirements ?? []).map((each, index) =>
      this.resolve(each, place.at(index)),
    );
    return { kind, requirements };
  }
}
