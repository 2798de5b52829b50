/** Resolves envoy.extensions.filters.http.bandwidth_share.v3.BandwidthShare, also per route. */
import type {
  BandwidthShare,
  BandwidthShare_Limit as LimitMessage,
  BandwidthShare_TenantConfig as TenantMessage,
} from '../../../../../shared/api/generated/envoy/extensions/filters/http/bandwidth_share/v3/bandwidth_share.ts';
import type { SubstitutionFormatString } from '../../../../../shared/api/generated/envoy/config/core/v3/substitution_format_string.ts';
import type { Matcher } from '../../../../../shared/api/generated/xds/type/matcher/v3/matcher.ts';
import { toByteString } from '../../../../../shared/regex/byte-string.ts';
import type { AccessLogFormat } from '../../../../../shared/resources/access-log.ts';
import type {
  BandwidthShareFilterSettings,
  BandwidthShareOptions,
  SharedBandwidth,
  TenantName,
  TenantOptions,
} from '../../../../../shared/resources/filters/http/limits/bandwidth-share.ts';
import { resolveFormat } from '../../../access-logs/format.ts';
import { extension, ExtensionRegistry } from '../../../extensions.ts';
import { knownFields, refuseOtherFields } from '../../../fields.ts';
import { resolveMatcherTree } from '../../../matchers/matcher-tree.ts';
import type { Scope } from '../../../scope.ts';
import { durationMsOr, optional } from '../../../values.ts';
import { httpFilter, perRoute } from '../../http-filter-row.ts';

const NAME = 'envoy.filters.http.bandwidth_share';
const TYPE = 'envoy.extensions.filters.http.bandwidth_share.v3.BandwidthShare';
const DEFAULT_FILL_MS = 50;

/** What gives a tenant's name: a format, or the name itself. */
const TENANT_NAMES = new ExtensionRegistry<TenantName>(NAME, 'tenant name', {
  tenant_name: [
    extension(
      'envoy.config.core.v3.SubstitutionFormatString',
      'envoy.config.core.v3.SubstitutionFormatString',
      (message: SubstitutionFormatString, scope): TenantName =>
        tenantName(resolveFormat(message, scope)),
    ),
    extension(
      'google.protobuf.StringValue',
      'google.protobuf.StringValue',
      (value: { readonly value?: string }): TenantName =>
        tenantName({ kind: 'text', format: plainFormat(value.value ?? ''), omitEmptyValues: true }),
    ),
  ],
});

export const BANDWIDTH_SHARE_FILTER = httpFilter(
  NAME,
  TYPE,
  (message: BandwidthShare, scope, name): BandwidthShareFilterSettings => ({
    kind: 'bandwidth_share',
    name,
    options: resolveBandwidthShare(message, scope),
  }),
  perRoute(TYPE, resolveBandwidthShare),
);

const FIELDS = knownFields<BandwidthShare>([
  'request_limit',
  'response_limit',
  'fill_interval',
  'enable_response_trailers',
  'response_trailer_prefix',
  'tenant_name_selector',
  'tenant_configs',
  'default_tenant_config',
]);

function resolveBandwidthShare(message: BandwidthShare, scope: Scope): BandwidthShareOptions {
  refuseOtherFields(message, FIELDS, scope);
  const { response_trailer_prefix: prefix = '', tenant_name_selector: selector } = message;
  const hasTrailers = message.enable_response_trailers === true;
  if (prefix !== '' && !hasTrailers) {
    const text = 'enable_response_trailers must be true if response_trailer_prefix is set';
    scope.error('conflict', text);
  }
  const request = message.request_limit && resolveLimit(message.request_limit);
  const response = message.response_limit && resolveLimit(message.response_limit);
  if (request !== undefined && response !== undefined) checkSame(request, response, scope);
  const names = selector && resolveNames(selector, scope.at('tenant_name_selector'));
  return {
    ...optional('request', request),
    ...optional('response', response),
    fillIntervalMs: durationMsOr(message.fill_interval, DEFAULT_FILL_MS),
    ...optional('trailerPrefix', hasTrailers ? prefix.toLowerCase() : undefined),
    ...optional('tenantName', names),
    tenants: Object.entries(message.tenant_configs ?? {}).map(
      ([name, tenant]) => [toByteString(name), resolveTenant(tenant)] as const,
    ),
    otherTenants: resolveTenant(message.default_tenant_config ?? {}),
  };
}

function resolveLimit({ bucket_id: bucketId = '', kbps }: LimitMessage): SharedBandwidth {
  const { runtime_key: runtimeKey = '', default_value: kilobytes = 0 } = kbps ?? {};
  return { bucketId, runtimeKey, kilobytes };
}

/** Two limits of one id are one limit. */
function checkSame(before: SharedBandwidth, limit: SharedBandwidth, scope: Scope): void {
  if (before.bucketId !== limit.bucketId) return;
  const other =
    before.runtimeKey !== limit.runtimeKey
      ? `runtime config key ${limit.runtimeKey} vs. existing ${before.runtimeKey}`
      : `default value ${limit.kilobytes}KiB/s vs. existing ${before.kilobytes}KiB/s`;
  if (before.runtimeKey === limit.runtimeKey && before.kilobytes === limit.kilobytes) return;
  scope
    .at('response_limit')
    .error(
      'conflict',
      `bandwidth_share bucket ${limit.bucketId} attempted configuration with mismatched ${other} - ` +
        'to have different config you must use a distinct bucket_id',
    );
}

function resolveTenant(message: TenantMessage): TenantOptions {
  const { weight = 0, include_stats_tag: hasOwnStats = false } = message;
  return { weight: weight === 0 ? 1 : weight, hasOwnStats };
}

function resolveNames(matcher: Matcher, scope: Scope): BandwidthShareOptions['tenantName'] {
  const rules = {
    resolveAction: (
      action: Parameters<typeof TENANT_NAMES.resolve>[0],
      place: Scope,
    ): TenantName | undefined => TENANT_NAMES.resolve(action, place),
    checkInput: (): void => undefined,
  };
  return resolveMatcherTree(matcher, rules, scope);
}

function tenantName(format: AccessLogFormat): TenantName {
  return { kind: 'tenant_name', format };
}

/** A text without commands as a format. */
function plainFormat(text: string): string {
  return toByteString(text.replaceAll('%', '%%'));
}
