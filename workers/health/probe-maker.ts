/** Makes what asks the hosts of a cluster for one of its checks. */
import { KindTable, type OfKind } from '../../shared/resources/by-kind.ts';
import type { Clock } from '../../shared/process/clock.ts';
import type { HostResource } from '../../shared/resources/clusters/cluster.ts';
import type { HealthCheckResource } from '../../shared/resources/clusters/health-check.ts';
import { CheckRequests } from './check-requests.ts';
import { checkTarget, type CheckConnections } from './check-target.ts';
import { Http2Probe } from './http2-probe.ts';
import { HttpProbe } from './http-probe.ts';
import { HttpJudge } from './judge-http.ts';
import type { Probe, RequestTarget } from './probe.ts';
import { RedisProbe } from './redis-probe.ts';
import { TcpProbe } from './tcp-probe.ts';

export interface ProbeMakerParts {
  readonly check: HealthCheckResource;
  readonly ways: CheckConnections;
  readonly clock: Clock;
  /** Whether the name of the service counts this time. */
  mustVerify(): boolean;
  /** A host of Redis has the key that it must not have. */
  readonly keyFound: () => void;
}

type MakeProbe = (host: HostResource) => Probe;

/** What each kind of check asks hosts with. */
const PROBES = new KindTable<HealthCheckResource['probe'], [ProbeMakerParts], MakeProbe>({
  tcp: (probe, { check, ways }) => {
    return (host) => new TcpProbe(probe, checkTarget(ways, host, check), check.reuseConnection);
  },
  redis: (probe, { check, ways, keyFound }) => {
    return (host) => {
      const figures = ways.checkStats(host);
      const target = checkTarget(ways, host, check);
      return new RedisProbe(probe, { target, reuse: check.reuseConnection, figures, keyFound });
    };
  },
  grpc: (probe, parts) => {
    const targetOf = requestTargets(probe, parts);
    return (host) => new Http2Probe(targetOf(host), parts.check.reuseConnection, undefined);
  },
  http: (probe, parts) => {
    const targetOf = requestTargets(probe, parts);
    const judge = new HttpJudge(probe, () => parts.mustVerify());
    const { reuseConnection: reuse } = parts.check;
    return probe.isHttp2
      ? (host) => new Http2Probe(targetOf(host), reuse, judge)
      : (host) => new HttpProbe({ target: targetOf(host), reuse, judge });
  },
});

function requestTargets(
  probe: CheckedByRequest,
  { check, ways, clock }: ProbeMakerParts,
): (host: HostResource) => RequestTarget {
  const requests = new CheckRequests({ probe, timeoutMs: check.timeoutMs }, clock);
  return (host) => {
    const target = checkTarget(ways, host, check);
    const scheme = target.readyEvent === 'secureConnect' ? 'https' : 'http';
    return { ...target, request: () => requests.make(host, scheme, target.authority) };
  };
}

type CheckedByRequest = OfKind<HealthCheckResource['probe'], 'http' | 'grpc'>;

export class ProbeMaker {
  readonly #make: MakeProbe;

  constructor(parts: ProbeMakerParts) {
    this.#make = PROBES.make(parts.check.probe, parts);
  }

  for(host: HostResource): Probe {
    return this.#make(host);
  }
}
