/** Makes what asks the hosts of a cluster for one of its checks. */
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

export class ProbeMaker {
  readonly #parts: ProbeMakerParts;
  readonly #make: (host: HostResource) => Probe;

  constructor(parts: ProbeMakerParts) {
    this.#parts = parts;
    this.#make = this.#maker();
  }

  for(host: HostResource): Probe {
    return this.#make(host);
  }

  #maker(): (host: HostResource) => Probe {
    const { check, ways, clock } = this.#parts;
    const mustVerify = (): boolean => this.#parts.mustVerify();
    const { probe, timeoutMs, reuseConnection: reuse } = check;
    if (probe.kind === 'tcp') {
      return (host) => new TcpProbe(probe, checkTarget(ways, host, check), reuse);
    }
    if (probe.kind === 'redis') {
      return (host) => {
        const figures = ways.checkStats(host);
        const { keyFound } = this.#parts;
        return new RedisProbe(probe, {
          target: checkTarget(ways, host, check),
          reuse,
          figures,
          keyFound,
        });
      };
    }
    const requests = new CheckRequests({ probe, timeoutMs }, clock);
    const targetOf = (host: HostResource): RequestTarget => {
      const target = checkTarget(ways, host, check);
      const scheme = target.readyEvent === 'secureConnect' ? 'https' : 'http';
      return { ...target, request: () => requests.make(host, scheme, target.authority) };
    };
    const judge = probe.kind === 'http' ? new HttpJudge(probe, mustVerify) : undefined;
    if (judge === undefined || (probe.kind === 'http' && probe.isHttp2)) {
      return (host) => new Http2Probe(targetOf(host), reuse, judge);
    }
    return (host) => new HttpProbe({ target: targetOf(host), reuse, judge });
  }
}
