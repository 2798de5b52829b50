/** Resolves the extensions that find out the client's address. */
import type { HttpConnectionManager as ManagerMessage } from '../../../shared/api/generated/envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager.ts';
import type { CustomHeaderConfig } from '../../../shared/api/generated/envoy/extensions/http/original_ip_detection/custom_header/v3/custom_header.ts';
import type { XffConfig } from '../../../shared/api/generated/envoy/extensions/http/original_ip_detection/xff/v3/xff.ts';
import type { OfKind } from '../../../shared/resources/by-kind.ts';
import type { IpDetection } from '../../../shared/resources/listener.ts';
import { extension, ExtensionRegistry } from '../extensions.ts';
import { knownFields, refuseOtherFields } from '../fields.ts';
import { statusNumber } from '../http-status.ts';
import { resolveRanges } from '../matchers/filter-state-matcher.ts';
import { asciiLower } from '../matchers/string-matcher.ts';
import type { Scope } from '../scope.ts';
import { optional } from '../values.ts';

const XFF_FIELDS = knownFields<XffConfig>([
  'xff_num_trusted_hops',
  'xff_trusted_cidrs',
  'skip_xff_append',
]);
const CUSTOM_FIELDS = knownFields<CustomHeaderConfig>([
  'header_name',
  'allow_extension_to_set_address_as_trusted',
  'reject_with_status',
]);
const FORBIDDEN = 403;

export const IP_DETECTION = new ExtensionRegistry<IpDetection>(
  'envoy.http.original_ip_detection',
  'original IP detection extension',
  {
    xff: extension(
      'envoy.http.original_ip_detection.xff',
      'envoy.extensions.http.original_ip_detection.xff.v3.XffConfig',
      resolveXff,
    ),
    custom_header: extension(
      'envoy.http.original_ip_detection.custom_header',
      'envoy.extensions.http.original_ip_detection.custom_header.v3.CustomHeaderConfig',
      resolveCustomHeader,
    ),
  },
);

/** Undefined where there is none. */
export function resolveIpDetection(
  message: ManagerMessage,
  scope: Scope,
): readonly IpDetection[] | undefined {
  const { original_ip_detection_extensions: extensions = [], xff_num_trusted_hops: hops } = message;
  if (extensions.length === 0) return undefined;
  const place = scope.at('original_ip_detection_extensions');
  if (message.use_remote_address === true || (hops ?? 0) > 0) {
    const other =
      message.use_remote_address === true ? 'use_remote_address' : 'xff_num_trusted_hops';
    place.error('conflict', `Original IP detection extensions and ${other} may not be mixed`);
  }
  return extensions
    .map((each, index) => IP_DETECTION.resolve(each, place.at(index)))
    .filter((detection) => detection !== undefined);
}

function resolveXff(message: XffConfig, scope: Scope): OfKind<IpDetection, 'xff'> {
  refuseOtherFields(message, XFF_FIELDS, scope);
  const { xff_num_trusted_hops: hops = 0, xff_trusted_cidrs: trusted } = message;
  if (trusted !== undefined && hops > 0) {
    scope.error('conflict', 'Cannot set both xff_num_trusted_hops and xff_trusted_cidrs');
  }
  return {
    kind: 'xff',
    numTrustedHops: hops,
    appends: message.skip_xff_append === false,
    ...optional(
      'trusted',
      trusted && resolveRanges(trusted.cidrs, scope.at('xff_trusted_cidrs', 'cidrs')),
    ),
  };
}

function resolveCustomHeader(
  message: CustomHeaderConfig,
  scope: Scope,
): OfKind<IpDetection, 'custom_header'> {
  refuseOtherFields(message, CUSTOM_FIELDS, scope);
  const { reject_with_status: reject } = message;
  const status = reject && statusNumber(reject.code);
  return {
    kind: 'custom_header',
    name: asciiLower(message.header_name ?? ''),
    isTrusted: message.allow_extension_to_set_address_as_trusted ?? false,
    // Only errors may refuse a request; Envoy makes 403 of everything else.
    ...optional(
      'rejectStatus',
      reject === undefined ? undefined : status !== undefined && status >= 400 ? status : FORBIDDEN,
    ),
  };
}
