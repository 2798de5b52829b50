/** Resolves envoy.extensions.filters.http.gcp_authn.v3.Audience, of a filter and of clusters. */
import type { Metadata } from '../../../shared/api/generated/envoy/config/core/v3/base.ts';
import type { Audience } from '../../../shared/api/generated/envoy/extensions/filters/http/gcp_authn/v3/gcp_authn.ts';
import type { GcpAudience } from '../../../shared/resources/clusters/gcp-audience.ts';
import { knownFields, refuseOtherFields } from '../fields.ts';
import type { Scope } from '../scope.ts';

const FIELDS = knownFields<Audience>(['url', 'access_token'], []);
const TYPE = '/envoy.extensions.filters.http.gcp_authn.v3.Audience';
const NAME = 'envoy.filters.http.gcp_authn';

export function resolveGcpAudience(message: Audience, scope: Scope): GcpAudience {
  refuseOtherFields(message, FIELDS, scope);
  const { url = '', access_token: access } = message;
  return access === undefined
    ? { kind: 'identity', url }
    : { kind: 'access', scopes: access.scopes ?? [] };
}

/** What a cluster says in its typed metadata; the filter that reads it need not be there. */
export function audienceOfCluster(
  message: Metadata | undefined,
  scope: Scope,
): GcpAudience | undefined {
  const typed = new Map(Object.entries(message?.typed_filter_metadata ?? {})).get(NAME);
  if (typed?.['@type']?.toString().endsWith(TYPE) !== true) return undefined;
  const { '@type': _, ...audience } = typed;
  return resolveGcpAudience(audience, scope.at('typed_filter_metadata', NAME));
}
