/**
 * Route configurations with many routes on their way to workers: in parts, each of which is packed
 * and read in a millisecond or two, joined again before they are applied. A virtual host may be
 * cut too: its next part then begins with the rest of its routes.
 */
import type { ResourceUpdate } from '../resource-update.ts';
import type { Route, RouteConfigurationResource, VirtualHost } from './route.ts';

/** Routes, and virtual hosts, that travel together. */
export const ROUTES_PER_PART = 256;

type PutRoutes = Extract<ResourceUpdate, { readonly op: 'put_route_configuration' }>;

/** How much of a part's room a configuration takes. */
export function routesIn({ virtualHosts }: RouteConfigurationResource): number {
  return virtualHosts.reduce((sum, { routes }) => sum + 1 + routes.length, 0);
}

/** Cuts large configurations; all but the last part of one say that more follows. */
export function splitRoutes(updates: readonly ResourceUpdate[]): readonly ResourceUpdate[] {
  return updates.flatMap((update): readonly ResourceUpdate[] =>
    update.op === 'put_route_configuration' && routesIn(update.routes) > 2 * ROUTES_PER_PART
      ? split(update)
      : [update],
  );
}

/** Undoes `splitRoutes`. */
export function joinRoutes(updates: readonly ResourceUpdate[]): readonly ResourceUpdate[] {
  const joined: ResourceUpdate[] = [];
  let hosts: VirtualHost[] = [];
  for (const update of updates) {
    if (update.op !== 'put_route_configuration') {
      joined.push(update);
      continue;
    }
    const { more, continues, ...rest } = update;
    addHosts(hosts, update.routes.virtualHosts, continues === true);
    if (more === true) continue;
    joined.push({ ...rest, routes: { ...update.routes, virtualHosts: hosts } });
    hosts = [];
  }
  return joined;
}

function addHosts(all: VirtualHost[], hosts: readonly VirtualHost[], continues: boolean): void {
  const [first, ...others] = hosts;
  if (first === undefined) return;
  const last = continues ? all.pop() : undefined;
  if (last === undefined) all.push(first);
  else {
    // The list is its part's own, read from a message.
    for (const route of first.routes) (last.routes as Route[]).push(route);
    all.push(last);
  }
  for (const host of others) all.push(host);
}

function split(update: PutRoutes): readonly PutRoutes[] {
  const parts = [...partsOf(update.routes.virtualHosts)];
  return parts.map(({ virtualHosts, continues }, at): PutRoutes => ({
    ...update,
    routes: { ...update.routes, virtualHosts },
    ...(continues ? { continues: true } : {}),
    ...(at < parts.length - 1 ? { more: true } : {}),
  }));
}

interface Part {
  readonly virtualHosts: readonly VirtualHost[];
  /** Its first virtual host is the rest of the last one before. */
  readonly continues: boolean;
}

function* partsOf(hosts: readonly VirtualHost[]): Generator<Part> {
  let virtualHosts: VirtualHost[] = [];
  let continues = false;
  let room = ROUTES_PER_PART;
  for (const host of hosts) {
    for (let from = 0; from === 0 || from < host.routes.length;) {
      if (room <= 1) {
        yield { virtualHosts, continues };
        virtualHosts = [];
        continues = from > 0;
        room = ROUTES_PER_PART;
      }
      const routes = host.routes.slice(from, from + room - 1);
      virtualHosts.push({ ...host, routes });
      room -= 1 + routes.length;
      from += Math.max(routes.length, 1);
    }
  }
  yield { virtualHosts, continues };
}
