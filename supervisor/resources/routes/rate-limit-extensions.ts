/**
 * Actions of rate limits that are extensions: descriptors by an expression or by a claim of a token,
 * and the inputs of matcher trees, whose entries are called as the extension is.
 */
import type { TypedExtensionConfig } from '../../../shared/api/generated/envoy/config/core/v3/extension.ts';
import type { Descriptor as ExpressionMessage } from '../../../shared/api/generated/envoy/extensions/rate_limit_descriptors/expr/v3/expr.ts';
import type { Descriptor as ClaimMessage } from '../../../shared/api/generated/envoy/extensions/rate_limit_descriptors/jwt_claim/v3/jwt_claim.ts';
import { toByteString } from '../../../shared/regex/byte-string.ts';
import type { RateLimitAction } from '../../../shared/resources/routes/rate-limits.ts';
import { resolveCelExpr, resolveCelText } from '../cel.ts';
import { extension, ExtensionRegistry } from '../extensions.ts';
import { MATCH_INPUTS } from '../matchers/match-inputs.ts';
import { asciiLower } from '../matchers/string-matcher.ts';
import type { Scope } from '../scope.ts';

type DescriptorAction = Extract<RateLimitAction, { readonly kind: 'expression' | 'jwt_claim' }>;

export const RATE_LIMIT_DESCRIPTORS = new ExtensionRegistry<DescriptorAction>(
  'envoy.rate_limit_descriptors',
  'rate limit descriptor',
  {
    expression: extension(
      'envoy.rate_limit_descriptors.expr',
      'envoy.extensions.rate_limit_descriptors.expr.v3.Descriptor',
      resolveExpression,
    ),
    jwt_claim: extension(
      'envoy.rate_limit_descriptors.jwt_claim',
      'envoy.extensions.rate_limit_descriptors.jwt_claim.v3.Descriptor',
      resolveClaim,
    ),
  },
);

/** Undefined after a reported problem. */
export function resolveExtensionAction(
  message: TypedExtensionConfig,
  scope: Scope,
): RateLimitAction | undefined {
  if (!MATCH_INPUTS.knows(message, scope)) return RATE_LIMIT_DESCRIPTORS.resolve(message, scope);
  const input = MATCH_INPUTS.resolve(message, scope);
  return input && { kind: 'input', key: toByteString(message.name ?? ''), input };
}

function resolveExpression(
  message: ExpressionMessage,
  scope: Scope,
): Extract<RateLimitAction, { readonly kind: 'expression' }> | undefined {
  const { text, parsed } = message;
  if (text === undefined && parsed === undefined) {
    scope.error('conflict', 'Unexpected empty expr_specifier in a rate limit descriptor');
    return undefined;
  }
  const expression =
    text === undefined
      ? resolveCelExpr(parsed ?? {}, scope.at('parsed'))
      : resolveCelText(text, scope.at('text'));
  return (
    expression && {
      kind: 'expression',
      key: toByteString(message.descriptor_key ?? ''),
      expression,
      skipIfAbsent: message.skip_if_error ?? false,
    }
  );
}

function resolveClaim(
  message: ClaimMessage,
  scope: Scope,
): Extract<RateLimitAction, { readonly kind: 'jwt_claim' }> {
  const { header_name: header = '', cookie = '' } = message;
  if ((header === '') === (cookie === '')) {
    const text = 'jwt_claim descriptor: exactly one of header_name or cookie must be set';
    scope.error('conflict', text);
  }
  return {
    kind: 'jwt_claim',
    key: toByteString(message.descriptor_key ?? ''),
    place: cookie === '' ? 'header' : 'cookie',
    name: cookie === '' ? asciiLower(header) : cookie,
    prefix: message.value_prefix ?? '',
    path: (message.claim_name ?? '').split('.'),
    defaultValue: toByteString(message.default_value ?? ''),
    skipIfAbsent: message.skip_if_absent ?? false,
  };
}
