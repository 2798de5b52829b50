/** Asks the hosts of one cluster for reports of their load, each over a stream of its own. */
import { checkTarget } from '../../health/check-target.ts';
import type { HostAddress } from '../../../shared/resources/clusters/cluster.ts';
import type { OobReportOptions } from '../../../shared/resources/clusters/lb-policy.ts';
import { ORCA_OOB } from '../../../shared/stats/templates/cluster-features.ts';
import { LoopTimer, type TimerOwner } from '../../loop/timers.ts';
import type { UpstreamCluster } from '../cluster.ts';
import type { UpstreamHost } from '../hosts/host.ts';
import { OobSession } from './oob-session.ts';

/** Hosts that came or went are looked for in between. */
const LOOK_MS = 250;

export interface OobSessionsParts {
  readonly cluster: UpstreamCluster;
  readonly options: OobReportOptions;
  random(): number;
  noted(host: UpstreamHost): void;
}

export class OobSessions implements TimerOwner {
  readonly #parts: OobSessionsParts;
  readonly #timer = new LoopTimer(this, 0);
  readonly #sessions = new Map<UpstreamHost, OobSession>();
  readonly #base: number;
  #version: number | undefined = undefined;

  constructor(parts: OobSessionsParts) {
    const { stats, loop } = parts.cluster;
    this.#parts = parts;
    this.#base = stats.writer.defineBlock(ORCA_OOB, `${stats.prefix}lb_orca_oob.`);
    loop.timers.list(1).arm(this.#timer);
  }

  onTimer(): void {
    const { cluster } = this.#parts;
    cluster.loop.timers.list(LOOK_MS).arm(this.#timer);
    if (this.#version === cluster.version) return;
    this.#version = cluster.version;
    const hosts = new Set(cluster.hosts);
    for (const [host, session] of this.#sessions) {
      if (hosts.has(host)) continue;
      session.close();
      this.#sessions.delete(host);
    }
    for (const host of hosts) {
      if (!this.#sessions.has(host)) this.#sessions.set(host, this.#begin(host));
    }
  }

  onException(): void {
    this.#version = undefined;
  }

  close(): void {
    this.#timer.disarm();
    for (const session of this.#sessions.values()) session.close();
    this.#sessions.clear();
    this.#parts.cluster.stats.writer.releaseBlock(this.#base);
  }

  #begin(host: UpstreamHost): OobSession {
    const { cluster, options } = this.#parts;
    const { writer } = cluster.stats;
    const { check: _, ...resource } = host.resource;
    const address = atPort(resource.address, options.port);
    const { socketCriteria: criteria } = options;
    const wishes = { alpn: ['h2'], ...(criteria && { socketCriteria: criteria }) };
    return new OobSession({
      loop: cluster.loop,
      target: checkTarget(cluster, { ...resource, address }, wishes),
      authority: options.authority || textOf(address),
      periodMs: options.periodMs,
      random: () => this.#parts.random(),
      onReport: (report) => {
        host.reportedLoad?.note(report, cluster.loop.clock.ms);
        this.#parts.noted(host);
      },
      count: (event) => writer.increment(this.#base + ORCA_OOB.index[event]),
      countActive: (change) => {
        const gauge = this.#base + ORCA_OOB.index.active_sessions;
        if (change > 0) writer.add(gauge, 1);
        else writer.subtract(gauge, 1);
      },
    });
  }
}

function atPort(address: HostAddress, port: number | undefined): HostAddress {
  return address.kind === 'ip' && port !== undefined ? { ...address, port } : address;
}

function textOf(address: HostAddress): string {
  if (address.kind !== 'ip') return 'localhost';
  const { address: ip, port } = address;
  return ip.includes(':') ? `[${ip}]:${port}` : `${ip}:${port}`;
}
