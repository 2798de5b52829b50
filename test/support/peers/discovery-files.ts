/** Files that a server watches for resources, moved into place as a whole. */
import { renameSync, writeFileSync } from 'node:fs';
import type { Scratch } from '../scratch.ts';

const TYPE = 'type.googleapis.com/envoy.config';

/** Resources by type, as a control plane or a file gives them. */
export const resource = {
  listener: (message: object): object => ({ '@type': `${TYPE}.listener.v3.Listener`, ...message }),
  cluster: (message: object): object => ({ '@type': `${TYPE}.cluster.v3.Cluster`, ...message }),
  routes: (name: string, routes: readonly object[]): object => ({
    '@type': `${TYPE}.route.v3.RouteConfiguration`,
    name,
    virtual_hosts: [{ name: 'all', domains: ['*'], routes }],
  }),
  endpoints: (cluster: string, ports: readonly number[]): object => ({
    '@type': `${TYPE}.endpoint.v3.ClusterLoadAssignment`,
    cluster_name: cluster,
    endpoints: [
      {
        lb_endpoints: ports.map((port) => ({
          endpoint: { address: { socket_address: { address: '127.0.0.1', port_value: port } } },
        })),
      },
    ],
  }),
} as const;

/** `path_config_source` of a file. */
export function fileSource(path: string, directory?: string): object {
  const watched = directory === undefined ? {} : { watched_directory: { path: directory } };
  return { path_config_source: { path, ...watched }, resource_api_version: 'V3' };
}

/** Writes an answer beside the file and moves it into its place. */
export function moveIntoPlace(
  scratch: Scratch,
  name: string,
  answer: { readonly version: string; readonly resources: readonly object[] } | string,
): void {
  const path = scratch.file(name);
  const content =
    typeof answer === 'string'
      ? answer
      : JSON.stringify({ version_info: answer.version, resources: answer.resources });
  writeFileSync(`${path}.new`, content);
  renameSync(`${path}.new`, path);
}
