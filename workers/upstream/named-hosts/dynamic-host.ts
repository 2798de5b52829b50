/**
 * What filters say of the host that a request or connection is for, where its cluster forwards to
 * any name.
 */

const HOST_KEY = 'envoy.upstream.dynamic_host';
export const DYNAMIC_PORT_KEY = 'envoy.upstream.dynamic_port';
const PORT_MAX = 65_535;

export type FilterState = (key: string) => string | undefined;

/** Its name, which may have a port. */
export function dynamicHost(filterState: FilterState): string | undefined {
  return filterState(HOST_KEY);
}

/** Undefined where there is none or it is no port. */
export function dynamicPort(filterState: FilterState): number | undefined {
  const port = Number(filterState(DYNAMIC_PORT_KEY));
  return Number.isInteger(port) && port > 0 && port <= PORT_MAX ? port : undefined;
}
