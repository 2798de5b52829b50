/** The network filter ratelimit: asks a service whether one more connection is within the limit. */
import type { AskedNetworkRateLimit } from '../../../shared/resources/filters/network/rate-limit.ts';
import { dottedPrefix } from '../../../shared/stats/stat-scope.ts';
import { NETWORK_RATE_LIMIT } from '../../../shared/resources/filters/network/rate-limit.ts';
import { isEnabled } from '../../loop/runtime.ts';
import type { StreamInfo } from '../../stream/stream-info.ts';
import { compileTextFormat } from '../../substitution/compile-format.ts';
import { type AskedDescriptor, askLimit, type LimitAnswer } from '../common/rate-limit-service.ts';
import type { NetworkFilterContext } from '../network-filter-context.ts';
import type { NetworkGate } from '../network-gate.ts';
import { AskedConnection } from './asked-connection.ts';
import { addConnectionMetadata } from './connection-metadata.ts';

const NAMESPACE = 'envoy.filters.network.ratelimit';
const PERCENT = 100;
const { index } = NETWORK_RATE_LIMIT;

export function makeAskedRateLimitGate(
  filter: AskedNetworkRateLimit,
  { stats, grpc, runtime }: NetworkFilterContext,
): NetworkGate {
  const { domain, timeoutMs, failureModeDeny } = filter;
  const base = stats.defineBlock(
    NETWORK_RATE_LIMIT,
    dottedPrefix(`ratelimit.${filter.statPrefix}`),
  );
  const count = (stat: keyof typeof index): void => stats.increment(base + index[stat]);
  const service = grpc.service(filter.target);
  const descriptorsOf = compileDescriptors(filter);
  /** A switch of the runtime alone. */
  const isOn = (runtimeKey: string): boolean =>
    isEnabled({ numerator: PERCENT, denominator: PERCENT, runtimeKey }, runtime, runtime.random());
  const decide = (answer: LimitAnswer | undefined, info: StreamInfo): boolean => {
    const { metadata } = answer ?? {};
    if (metadata !== undefined && Object.keys(metadata).length > 0) {
      addConnectionMetadata(info, NAMESPACE, metadata);
    }
    if (answer === undefined) {
      count('error');
      count(failureModeDeny ? 'cx_closed' : 'failure_mode_allowed');
      return !failureModeDeny;
    }
    count(answer.isOverLimit ? 'over_limit' : 'ok');
    if (!answer.isOverLimit || !isOn('ratelimit.tcp_filter_enforcing')) return true;
    count('cx_closed');
    return false;
  };
  return {
    onConnection(info, resume) {
      if (!isOn('ratelimit.tcp_filter_enabled')) return true;
      count('total');
      stats.add(base + index.active, 1);
      const asked = new AskedConnection(resume, () => stats.subtract(base + index.active, 1));
      const limit = { domain, descriptors: descriptorsOf(info), hits: 0 };
      return asked.ask(() =>
        askLimit(
          service,
          limit,
          { timeoutMs, parent: info },
          {
            onLimit: (answer) => asked.decide(decide(answer, info)),
            onException: () => asked.onException(),
          },
        ),
      );
    },
    release() {
      service.release();
      stats.releaseBlock(base);
    },
  };
}

function compileDescriptors({
  descriptors,
}: AskedNetworkRateLimit): (info: StreamInfo) => readonly AskedDescriptor[] {
  const compiled = descriptors.map((entries) =>
    entries.map(({ key, format }) => ({
      key,
      valueOf: compileTextFormat(format, { omitEmptyValues: false }),
    })),
  );
  return (info) =>
    compiled.map((entries) => ({
      entries: entries.map(({ key, valueOf }) => ({ key, value: valueOf(info) })),
    }));
}
