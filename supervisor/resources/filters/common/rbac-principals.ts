/** The principals of RBAC that are extensions. */
import type { Config as MtlsAuthenticated } from '../../../../shared/api/generated/envoy/extensions/rbac/principals/mtls_authenticated/v3/mtls_authenticated.ts';
import type { RbacRule } from '../../../../shared/resources/filters/common/rbac.ts';
import { extension, ExtensionRegistry } from '../../extensions.ts';
import { knownFields, refuseOtherFields } from '../../fields.ts';
import type { Scope } from '../../scope.ts';
import { resolveSanMatcher } from '../../tls/validation.ts';

const MTLS_FIELDS = knownFields<MtlsAuthenticated>([
  'san_matcher',
  'any_validated_client_certificate',
]);

interface CustomPrincipal {
  readonly rule: RbacRule;
}

export const RBAC_PRINCIPALS = new ExtensionRegistry<CustomPrincipal>(
  'envoy.rbac.principals',
  'RBAC principal',
  [
    extension(
      'envoy.rbac.principals.mtls_authenticated',
      'envoy.extensions.rbac.principals.mtls_authenticated.v3.Config',
      resolveMtls,
    ),
  ],
);

function resolveMtls(message: MtlsAuthenticated, scope: Scope): CustomPrincipal | undefined {
  refuseOtherFields(message, MTLS_FIELDS, scope);
  const { san_matcher: san, any_validated_client_certificate: any = false } = message;
  // A name is asked for even where any verified certificate would do.
  if (san !== undefined) {
    const matcher = resolveSanMatcher(san, scope.at('san_matcher'));
    return matcher && { rule: { kind: 'verified_name', matcher } };
  }
  if (any) return { rule: { kind: 'authenticated' } };
  scope.error(
    'conflict',
    'envoy.rbac.principals.mtls_authenticated did not have any configured validation. At least one configuration field must be set.',
  );
  return undefined;
}
