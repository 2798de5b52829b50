/** The blocks of statistics that tell of traffic, found among all others. */
import { CLUSTER, HOST } from '../../shared/stats/templates/cluster.ts';
import {
  HTTP_CONNECTION_MANAGER,
  ROUTER,
} from '../../shared/stats/templates/http-connection-manager.ts';
import { LISTENER_WORKER } from '../../shared/stats/templates/listener.ts';
import type { Definition } from '../stats/stat-store.ts';

/** What the proxy asks for itself, and what is asked of the admin interface. */
const OWN_PREFIXES: ReadonlySet<string> = new Set(['http.admin.', 'http.async-client.']);
/** Ends the names of such blocks. */
const WORKER = /\.worker_(\d+)\.$/;

/** A worker's connections at one listener. */
interface WorkerShare {
  readonly worker: number;
  readonly definition: Definition;
}

export class FoundBlocks {
  readonly managers: Definition[] = [];
  readonly routers: Definition[] = [];
  readonly clusters: Definition[] = [];
  readonly hosts: Definition[] = [];
  readonly shares: WorkerShare[] = [];

  add(definition: Definition): void {
    switch (definition.template) {
      case HOST:
        this.hosts.push(definition);
        return;
      case CLUSTER:
        this.clusters.push(definition);
        return;
      case LISTENER_WORKER:
        this.#addShare(definition);
        return;
      case HTTP_CONNECTION_MANAGER:
        if (!OWN_PREFIXES.has(definition.name)) this.managers.push(definition);
        return;
      case ROUTER:
        if (!OWN_PREFIXES.has(definition.name)) this.routers.push(definition);
        return;
      default:
    }
  }

  #addShare(definition: Definition): void {
    const [, worker] = WORKER.exec(definition.name) ?? [];
    if (worker !== undefined) this.shares.push({ worker: Number(worker), definition });
  }
}
