/** Response flags of a stream: one bit each, with Envoy's short and long names. */

export const ResponseFlag = {
  failedLocalHealthCheck: 1 << 0,
  noHealthyUpstream: 1 << 1,
  upstreamRequestTimeout: 1 << 2,
  localReset: 1 << 3,
  upstreamRemoteReset: 1 << 4,
  upstreamConnectionFailure: 1 << 5,
  upstreamConnectionTermination: 1 << 6,
  upstreamOverflow: 1 << 7,
  noRouteFound: 1 << 8,
  delayInjected: 1 << 9,
  faultInjected: 1 << 10,
  rateLimited: 1 << 11,
  unauthorizedExternalService: 1 << 12,
  rateLimitServiceError: 1 << 13,
  downstreamConnectionTermination: 1 << 14,
  upstreamRetryLimitExceeded: 1 << 15,
  streamIdleTimeout: 1 << 16,
  invalidEnvoyRequestHeaders: 1 << 17,
  downstreamProtocolError: 1 << 18,
  upstreamMaxStreamDurationReached: 1 << 19,
  responseFromCacheFilter: 1 << 20,
  noFilterConfigFound: 1 << 21,
  durationTimeout: 1 << 22,
  upstreamProtocolError: 1 << 23,
  noClusterFound: 1 << 24,
  overloadManager: 1 << 25,
  dnsResolutionFailed: 1 << 26,
  dropOverload: 1 << 27,
  downstreamRemoteReset: 1 << 28,
  unconditionalDropOverload: 1 << 29,
} as const;

/**
 * `[bit, short, long]` in the order of output. Envoy puts out what it noted first, which is
 * why no further try was made; then what ended the last one.
 */
export const RESPONSE_FLAG_NAMES: readonly (readonly [bit: number, short: string, long: string])[] =
  [
    [ResponseFlag.upstreamRetryLimitExceeded, 'URX', 'UpstreamRetryLimitExceeded'],
    [ResponseFlag.upstreamOverflow, 'UO', 'UpstreamOverflow'],
    [ResponseFlag.failedLocalHealthCheck, 'LH', 'FailedLocalHealthCheck'],
    [ResponseFlag.noHealthyUpstream, 'UH', 'NoHealthyUpstream'],
    [ResponseFlag.upstreamRequestTimeout, 'UT', 'UpstreamRequestTimeout'],
    [ResponseFlag.localReset, 'LR', 'LocalReset'],
    [ResponseFlag.upstreamRemoteReset, 'UR', 'UpstreamRemoteReset'],
    [ResponseFlag.upstreamConnectionFailure, 'UF', 'UpstreamConnectionFailure'],
    [ResponseFlag.upstreamConnectionTermination, 'UC', 'UpstreamConnectionTermination'],
    [ResponseFlag.noRouteFound, 'NR', 'NoRouteFound'],
    [ResponseFlag.delayInjected, 'DI', 'DelayInjected'],
    [ResponseFlag.faultInjected, 'FI', 'FaultInjected'],
    [ResponseFlag.rateLimited, 'RL', 'RateLimited'],
    [ResponseFlag.unauthorizedExternalService, 'UAEX', 'UnauthorizedExternalService'],
    [ResponseFlag.rateLimitServiceError, 'RLSE', 'RateLimitServiceError'],
    [ResponseFlag.downstreamConnectionTermination, 'DC', 'DownstreamConnectionTermination'],
    [ResponseFlag.streamIdleTimeout, 'SI', 'StreamIdleTimeout'],
    [ResponseFlag.invalidEnvoyRequestHeaders, 'IH', 'InvalidEnvoyRequestHeaders'],
    [ResponseFlag.downstreamProtocolError, 'DPE', 'DownstreamProtocolError'],
    [ResponseFlag.upstreamMaxStreamDurationReached, 'UMSDR', 'UpstreamMaxStreamDurationReached'],
    [ResponseFlag.responseFromCacheFilter, 'RFCF', 'ResponseFromCacheFilter'],
    [ResponseFlag.noFilterConfigFound, 'NFCF', 'NoFilterConfigFound'],
    [ResponseFlag.durationTimeout, 'DT', 'DurationTimeout'],
    [ResponseFlag.upstreamProtocolError, 'UPE', 'UpstreamProtocolError'],
    [ResponseFlag.noClusterFound, 'NC', 'NoClusterFound'],
    [ResponseFlag.overloadManager, 'OM', 'OverloadManagerTerminated'],
    [ResponseFlag.dnsResolutionFailed, 'DF', 'DnsResolutionFailed'],
    [ResponseFlag.dropOverload, 'DO', 'DropOverload'],
    [ResponseFlag.downstreamRemoteReset, 'DR', 'DownstreamRemoteReset'],
    [ResponseFlag.unconditionalDropOverload, 'UDO', 'UnconditionalDropOverload'],
  ];

/** As above; a TCP proxy notes why it gives up after what made its attempts fail. */
export const TCP_RESPONSE_FLAG_NAMES: typeof RESPONSE_FLAG_NAMES = [
  ...RESPONSE_FLAG_NAMES.slice(2),
  ...RESPONSE_FLAG_NAMES.slice(0, 2),
];

/** The short names of a stream's flags, in the order of output. */
export function shortFlagNames(flags: number): string {
  return RESPONSE_FLAG_NAMES.filter(([bit]) => (flags & bit) !== 0)
    .map(([, short]) => short)
    .join(',');
}
