/** Which hosts a retry policy leaves out. */
import { memberOf, type Struct } from '../../../shared/text/dictionary.ts';
import { isDeepStrictEqual } from 'node:util';
import type { RetryHostPredicate } from '../../../shared/resources/routes/retry-policy.ts';
import type { UpstreamHost } from '../../upstream/hosts/host.ts';

/** `tried` are the hosts of the attempts before. */
export function predicateRefuses(
  predicate: RetryHostPredicate,
  host: UpstreamHost,
  tried: readonly UpstreamHost[],
): boolean {
  switch (predicate.kind) {
    case 'previous_hosts':
      return tried.includes(host);
    case 'omit_canary_hosts':
      return host.resource.canary;
    case 'omit_host_metadata':
      return hasLabels(host, predicate.labels);
  }
}

/** A host may have several values of a label, any of which counts. */
function hasLabels({ resource: { metadata } }: UpstreamHost, labels: Struct): boolean {
  const own = metadata?.['envoy.lb'];
  return Object.entries(labels).every(([label, wanted]) => {
    const given = memberOf(own, label);
    const values: readonly unknown[] = Array.isArray(given) ? given : [given];
    return given !== undefined && values.some((value) => isDeepStrictEqual(value, wanted));
  });
}
