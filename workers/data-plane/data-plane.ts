/**
 * The worker's data plane: takes resources and listening descriptors, carries traffic. Everything
 * that the receive loop commands ends here; nothing here knows of the channel.
 */
import { QuotaClients } from '../filters/http/rate-limit-quota/quota-clients.ts';
import type { AskedRequest, Explanation } from '../../shared/explain/explanation.ts';
import type { ListenerConnections } from '../../shared/messages/worker-to-supervisor.ts';
import type { ListenerResource } from '../../shared/resources/listener.ts';
import { routesIn } from '../../shared/resources/routes/route-parts.ts';
import type { ResourceUpdate } from '../../shared/resources/resource-update.ts';
import type { DataPlane, TapCommand } from './data-plane-commands.ts';
import type { DataPlaneEnv } from '../loop/data-plane-env.ts';
import type { DrainCommand, ListeningDescriptor } from '../listener/listener-commands.ts';
import type { AccessLogs } from '../access-log/access-logs.ts';
import { buildRouteTable, routeTableSteps } from '../routing/route-table.ts';
import { makeClusterFilters } from './filter-parts.ts';
import { makeClients } from './make-clients.ts';
import { checkingDuty, makeRouteDemand, makeTaps, upstreamNotices } from './notices.ts';
import { explainRequest } from '../explain/explain-request.ts';
import { holdViews } from '../router/route-views.ts';
import { WorkerRuntime } from '../loop/runtime.ts';
import { ClusterManager, isClusterUpdate } from '../upstream/cluster-manager.ts';
import type { Taps } from '../tap/taps.ts';
import { OverloadGate } from '../loop/overload-gate.ts';
import { finish, type Steps } from '../loop/sliced-work.ts';
import { WorkerLoop } from '../loop/worker-loop.ts';
import { OperatedConnections } from '../connections/operated-connections.ts';
import { ConnectionLimits } from '../listener/connection-limits.ts';
import type { DrainState } from '../listener/drain-state.ts';
import type { CompilerContext } from './compiler-context.ts';
import { type Change, ChangeQueue } from './change-queue.ts';
import { compileListener } from './listener-compiler.ts';
import { connectInside } from '../listener/connect-inside.ts';
import { ListenerSet } from '../listener/listener-set.ts';
import type { RouteDemand } from '../routing/route-demand.ts';
import { RouteStore } from './route-store.ts';
import { hostModules, makeAccessLogs, makeScripts, type ScriptModules } from './script-host.ts';
import { ExtensionStore } from '../filters/extension-store.ts';
import { UdpListeners } from '../udp/udp-listeners.ts';
import { SecretStore } from '../tls/secret-store.ts';
import { isPart, type PartUpdate } from './part-updates.ts';
import { LastRefusals } from '../manager/last-refusals.ts';
import { RequestWatches } from '../watched/request-watches.ts';
import { workerPages } from './worker-pages.ts';
import { drainState } from './worker-drain.ts';
import { heldBytes } from './worker-held-bytes.ts';

/** A listener with more filter chains is made in slices: a chain takes a third of a millisecond. */
const CHAINS_AT_ONCE = 16;
/** The same of routes, each of which takes some microseconds. */
const ROUTES_AT_ONCE = 256;

type PutRoutes = Extract<ResourceUpdate, { readonly op: 'put_route_configuration' }>;

/** Makes a data plane that has nothing to serve yet. */
export function createDataPlane(env: DataPlaneEnv): DataPlane {
  return new WorkerDataPlane(env);
}

class WorkerDataPlane implements DataPlane {
  readonly #env: DataPlaneEnv;
  readonly #loop: WorkerLoop;
  readonly #runtime = new WorkerRuntime();
  readonly #routes = new RouteStore();
  readonly #routeDemand: RouteDemand;
  readonly #secrets = new SecretStore();
  readonly #extensions = new ExtensionStore();
  readonly #overload: OverloadGate;
  readonly #clusters: ClusterManager;
  readonly #drain: DrainState;
  readonly #changes: ChangeQueue;
  readonly #accessLogs: AccessLogs;
  readonly #limits: ConnectionLimits;
  readonly #taps: Taps;
  readonly #compiler: CompilerContext;
  readonly #listeners: ListenerSet;
  readonly #udpListeners: UdpListeners;
  readonly connections: OperatedConnections;
  readonly watches: RequestWatches;
  readonly refusals = new LastRefusals();

  constructor(env: DataPlaneEnv) {
    this.#env = env;
    this.#loop = new WorkerLoop(env.clock, heldBytes(env), env.exceptions);
    const { timers, held } = this.#loop;
    const pages = workerPages(env);
    this.#routeDemand = makeRouteDemand(env);
    this.#overload = new OverloadGate({ random: Math.random, stats: env.stats, timers, held });
    const scripts = makeScripts(env);
    this.#clusters = new ClusterManager({
      scripts: hostModules(scripts, { ...env, loop: this.#loop }, () => this.#compiler),
      taps: (this.#taps = makeTaps(env, this.#loop, this.#runtime)),
      loop: this.#loop,
      overload: this.#overload,
      stats: env.stats,
      runtime: this.#runtime,
      secrets: this.#secrets,
      log: (line) => env.log('debug', 'connection', line),
      node: env.heritage.node,
      ownLocality: { region: '', subZone: '', ...env.heritage.node },
      localClusterName: env.heritage.localCluster,
      duty: checkingDuty(env),
      ...pages,
      find: (name) => this.#clusters.get(name),
      makeAttemptFilters: (...of) => makeClusterFilters(...of, this.#compiler),
      ...upstreamNotices(env),
      connectInside: (to) => connectInside(this.#listeners.get(to.listener), to, this.#loop),
    });
    this.#drain = drainState(env, () => this.#loop.clock.ms);
    this.watches = new RequestWatches({ clock: env.clock, write: env.writeWatched });
    const { watches, refusals } = this;
    const seen = { watches, refusals };
    const quotas = new QuotaClients(this.#loop, env.notify);
    const own = { loop: this.#loop, runtime: this.#runtime, scripts, quotas, ...seen };
    const clients = makeClients(env, this.#loop, this.#clusters, this.#runtime);
    this.#accessLogs = makeAccessLogs({ ...env, ...clients, ...own, pages });
    this.#limits = new ConnectionLimits({
      ...pages,
      maxConnections: env.heritage.maxDownstreamConnections,
      runtime: this.#runtime,
    });
    this.#listeners = new ListenerSet(env, {
      loop: this.#loop,
      limits: this.#limits,
      overload: this.#overload,
      drain: this.#drain,
    });
    this.#compiler = {
      env,
      ...own,
      clusters: this.#clusters,
      routes: this.#routes,
      routeDemand: this.#routeDemand,
      extensions: this.#extensions,
      secrets: this.#secrets,
      overload: this.#overload,
      drain: this.#drain,
      buildRoutes: (config) => buildRouteTable(config, this.#runtime),
      accessLogs: this.#accessLogs,
      ...clients,
      taps: this.#taps,
      pages,
    };
    this.#udpListeners = new UdpListeners({ ...this.#compiler, ...env });
    this.connections = new OperatedConnections(env, this.#loop, () => this.#listeners.all());
    this.#changes = this.#makeChanges();
  }

  apply(updates: readonly ResourceUpdate[]): Promise<void> | undefined {
    return this.#changes.apply(updates);
  }

  async listen(name: string, sockets: readonly ListeningDescriptor[]): Promise<void> {
    await this.#compiler.startTasks.settled();
    if (this.#udpListeners.has(name)) this.#udpListeners.listen(name, sockets);
    else await this.#listeners.listen(name, sockets);
  }

  async stopListening(names: readonly string[], takesWaiting: boolean): Promise<void> {
    await this.#udpListeners.stopListening(names);
    await this.#listeners.stopListening(names, takesWaiting);
  }

  drain(drain: DrainCommand): void {
    this.#listeners.startDrain(drain);
  }

  undrain(listeners?: readonly string[]): void {
    this.#drain.stop(listeners);
  }

  countConnections(): readonly ListenerConnections[] {
    return this.#listeners.countConnections();
  }

  cutConnections(listeners: readonly string[]): void {
    this.#loop.run(undefined, () => this.#listeners.cutConnections(listeners));
  }

  setHealthCheckFailed(failed: boolean): void {
    this.#drain.isHealthCheckFailed = failed;
  }

  get scripts(): ScriptModules {
    return this.#compiler.scripts;
  }

  get quotas(): QuotaClients {
    return this.#compiler.quotas;
  }

  setCheckingWorkers(workers: readonly number[]): void {
    this.#clusters.setCheckingWorkers(workers);
  }

  async explain(asked: AskedRequest): Promise<Explanation> {
    return await explainRequest(asked, this.#listeners.inForce, this.#loop);
  }

  setTap({ session, configId, settings, listen }: TapCommand): void {
    if (settings === undefined) this.#taps.end();
    else this.#taps.begin(session, configId, settings, listen);
  }

  reopenLogs(): void {
    this.#accessLogs.reopen();
  }

  async close(): Promise<void> {
    await this.#listeners.stopAll();
    await this.#listeners.answerLast();
    await this.#udpListeners.close();
    this.#loop.enter();
    this.#listeners.cutAll();
    this.#loop.leave();
    // Some logs go to clusters.
    await this.#accessLogs.close();
    this.#loop.run(undefined, () => this.#clusters.close());
  }

  #makeChanges(): ChangeQueue {
    return new ChangeQueue({
      loop: this.#loop,
      prepare: (update) => this.#prepare(update),
      onSettled: () => {
        if (this.#env.explainsOnly !== true) this.#compiler.startTasks.begin();
      },
    });
  }

  /** Does everything that may fail; what remains is the change itself. */
  #prepare(update: ResourceUpdate): Change | Steps<Change> {
    if (isPart(update)) return () => this.#putPart(update);
    if (isClusterUpdate(update)) return () => this.#clusters.apply(update);
    switch (update.op) {
      case 'put_host_answers':
        return () => this.#clusters.get(update.cluster)?.wantedHosts?.answered(update.answers);
      case 'put_route_configuration': {
        const steps = this.#routeSteps(update);
        return routesIn(update.routes) > ROUTES_AT_ONCE ? steps : finish(steps);
      }
      case 'remove_route_configuration':
        return () => this.#routes.remove(update.name);
      case 'put_overload':
        return () => {
          this.#overload.state = update.state;
        };
      case 'put_listener':
        return this.#prepareListener(update.listener);
      case 'put_runtime':
        return () => void (this.#runtime.snapshot = new Map(update.values));
      case 'remove_listener':
        return () => {
          this.#udpListeners.remove(update.name);
          this.#listeners.remove(update.name);
        };
    }
  }

  *#routeSteps({ key, routes }: PutRoutes): Steps<Change> {
    const table = yield* routeTableSteps(routes, this.#runtime);
    return () => this.#routes.put(key, table, holdViews(routes, this.#env.stats));
  }

  #prepareListener(listener: ListenerResource): Change | Steps<Change> {
    const { udp } = listener;
    if (udp !== undefined) return this.#udpListeners.prepare(listener, udp);
    const steps = this.#listenerSteps(listener);
    return listener.filterChains.length > CHAINS_AT_ONCE ? steps : finish(steps);
  }

  *#listenerSteps(listener: ListenerResource): Steps<Change> {
    const compiled = yield* compileListener(listener, this.#compiler);
    return () => this.#listeners.put(compiled);
  }

  /** What listeners and clusters name by its key. */
  #putPart(update: PartUpdate): void {
    switch (update.op) {
      case 'put_secret':
        return this.#secrets.put(update.key, update.secret);
      case 'remove_secret':
        return this.#secrets.remove(update.key);
      case 'put_extension':
        return this.#extensions.put(update.key, update.filter);
      case 'remove_extension':
        return this.#extensions.remove(update.key);
      case 'put_scoped_routes':
        return this.#routes.putScopes(update.key, update.scopes);
      case 'remove_scoped_routes':
        return this.#routes.removeScopes(update.key);
      case 'put_route_answers':
        return this.#routeDemand.answered(update.tickets);
    }
  }
}
