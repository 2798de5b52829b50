/**
 * Lets a module of the operator's own choose hosts. Another policy chooses while the module is being
 * loaded, is switched off, throws, or names no host of the cluster.
 */
import type { ScriptPolicy } from '../../../../shared/resources/clusters/lb-policy.ts';
import type { BalancerHandlers } from '../../../../shared/scripts/balancer.ts';
import { SCRIPT_BALANCER } from '../../../../shared/stats/templates/cluster.ts';
import { ITEMS_PER_STEP, type Steps } from '../../../loop/sliced-work.ts';
import { RunningModule } from '../../../scripts/running-module.ts';
import type { UpstreamHost } from '../../hosts/host.ts';
import type { PolicyContext } from '../balancer-context.ts';
import type { BalanceContext, LoadBalancer } from '../load-balancer.ts';
import { ShownHost } from './shown-host.ts';
import { ShownRequest } from './shown-request.ts';

const { index } = SCRIPT_BALANCER;

type Parts = Pick<PolicyContext, 'cluster' | 'stats' | 'scripts'>;

export class ScriptBalancer implements LoadBalancer {
  readonly #child: LoadBalancer;
  readonly #stats: Parts['stats'];
  readonly #base: number;
  readonly #module: RunningModule<BalancerHandlers>;
  /** A host is shown as the same object for as long as it is there. */
  readonly #shown = new WeakMap<UpstreamHost, ShownHost>();
  #hosts: readonly ShownHost[] = [];
  /** Those of them that are not unhealthy. */
  #usable: readonly ShownHost[] = [];
  /** The last host was the child's choice. */
  #isChilds = false;

  constructor(config: ScriptPolicy, child: LoadBalancer, { cluster, stats, scripts }: Parts) {
    const prefix = `${cluster.statPrefix}script.`;
    this.#child = child;
    this.#stats = stats;
    this.#base = stats.defineBlock(SCRIPT_BALANCER, prefix);
    this.#module = new RunningModule<BalancerHandlers>({
      kind: 'balancer',
      name: cluster.name,
      config,
      prefix,
      scripts,
      stats,
      counted: {
        errors: this.#base + index.errors,
        load_failures: this.#base + index.load_failures,
        disabled: this.#base + index.disabled,
      },
      check: (handlers) => {
        if (typeof handlers.pick !== 'function') throw new TypeError('create() gave no pick');
      },
      began: () => this.#tellHosts(),
    });
  }

  get isPanicking(): boolean {
    return this.#isChilds && this.#child.isPanicking;
  }

  choose(context: BalanceContext, draw: number): UpstreamHost | undefined {
    const host = this.#pick(context, draw);
    this.#isChilds = host === undefined;
    this.#stats.increment(this.#base + (host === undefined ? index.fallbacks : index.picks));
    return host ?? this.#child.choose(context, draw);
  }

  *prepare(hosts: readonly UpstreamHost[], overprovisioningFactor: number): Steps<() => void> {
    const putChild = yield* this.#child.prepare(hosts, overprovisioningFactor);
    const shown: ShownHost[] = [];
    for (const host of hosts) {
      shown.push(this.#show(host));
      if (shown.length % ITEMS_PER_STEP === 0) yield;
    }
    const usable = shown.filter(({ health }) => health !== 'unhealthy');
    return () => {
      putChild();
      this.#hosts = shown;
      this.#usable = usable;
      this.#tellHosts();
    };
  }

  release(): void {
    this.#module.release();
    this.#stats.releaseBlock(this.#base);
  }

  #show(host: UpstreamHost): ShownHost {
    const known = this.#shown.get(host);
    if (known !== undefined) return known;
    const shown = new ShownHost(host);
    this.#shown.set(host, shown);
    return shown;
  }

  #tellHosts(): void {
    const { version } = this.#module;
    if (version?.handlers.onHosts === undefined) return;
    this.#module.run(version.moduleId, () => version.handlers.onHosts?.(this.#hosts));
  }

  #pick(context: BalanceContext, draw: number): UpstreamHost | undefined {
    const { version } = this.#module;
    if (version === undefined || this.#usable.length === 0) return undefined;
    const { handlers, moduleId } = version;
    const request = new ShownRequest(context, draw);
    const picked = this.#module.run(moduleId, () => handlers.pick(request, this.#usable));
    if (picked === undefined) return undefined;
    const host = ShownHost.hostOf(picked);
    if (host !== undefined && this.#isListed(host)) return host;
    this.#module.noteFault(new TypeError('pick() gave what is no host of the cluster'));
    return undefined;
  }

  /** A module may have kept a host that is gone. */
  #isListed(host: UpstreamHost): boolean {
    return this.#shown.has(host) && !host.isDrained;
  }
}
