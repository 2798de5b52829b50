/** Which hosts a retry policy leaves out: one row per predicate. */
import { KindTable } from '../../../shared/resources/by-kind.ts';
import { memberOf, type Struct } from '../../../shared/text/dictionary.ts';
import { isDeepStrictEqual } from 'node:util';
import type { RetryHostPredicate } from '../../../shared/resources/routes/retry-policy.ts';
import type { UpstreamHost } from '../../upstream/hosts/host.ts';

/** Whether each refuses a host; `tried` are the hosts of the attempts before. */
const PREDICATES = new KindTable<
  RetryHostPredicate,
  [host: UpstreamHost, tried: readonly UpstreamHost[]],
  boolean
>({
  previous_hosts: (_, host, tried) => tried.includes(host),
  omit_canary_hosts: (_, host) => host.resource.canary,
  omit_host_metadata: ({ labels }, host) => hasLabels(host, labels),
});

export function predicateRefuses(
  predicate: RetryHostPredicate,
  host: UpstreamHost,
  tried: readonly UpstreamHost[],
): boolean {
  return PREDICATES.make(predicate, host, tried);
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
