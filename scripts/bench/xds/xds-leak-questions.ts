/**
 * What `xds-leaks.ts` changes thousands of times: each kind of resource, with the same names and
 * with others.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { httpListener, staticCluster } from '../../../test/support/parts/bootstrap.ts';
import type { ControlPlane } from '../../../test/support/peers/control-plane.ts';
import {
  fileSource,
  moveIntoPlace,
  resource,
} from '../../../test/support/peers/discovery-files.ts';
import { fetchOnce } from '../../../test/support/peers/http-client.ts';
import type { Scratch } from '../../../test/support/scratch.ts';
import { waitUntil } from '../../../test/support/wait.ts';
import type { CertificateFiles } from '../support/certificates.ts';
import {
  ADS,
  ENDPOINTS,
  LISTENER,
  listenerPort,
  type Fleet,
  type FleetOptions,
} from './xds-fleet.ts';

const API = 'type.googleapis.com/envoy';
const TLS = `${API}.extensions.transport_sockets.tls.v3`;
const CLUSTER = 'cluster.v3.Cluster';
const ROUTES = 'route.v3.RouteConfiguration';
const SCOPES = 'route.v3.ScopedRouteConfiguration';
const HOST = 'route.v3.VirtualHost';
const SECRET = 'envoy.extensions.transport_sockets.tls.v3.Secret';
const EXTENSION = 'core.v3.TypedExtensionConfig';
const RUNTIME = 'envoy.service.runtime.v3.Runtime';
const ROUTER = {
  name: 'router',
  typed_config: { '@type': `${API}.extensions.filters.http.router.v3.Router` },
};
const LIMIT_MS = 20_000;

export interface Question extends Pick<FleetOptions, 'prepare' | 'fields'> {
  readonly name: string;
  /** One update; resolves when the server has taken it. */
  readonly update: (fleet: Fleet, version: number) => Promise<void>;
}

export interface LeakEnvironment {
  /** The port of a server that answers every request. */
  readonly upstreamPort: number;
  /** A folder for logs. */
  readonly logs: string;
  /** Two that differ. */
  readonly certificates: readonly CertificateFiles[];
}

export function leakQuestions(environment: LeakEnvironment): readonly Question[] {
  return [
    ...listenerQuestions(environment),
    ...clusterQuestions(environment),
    ...routeQuestions(),
    ...partQuestions(environment),
    ...fileQuestions(environment),
    {
      name: 'reconnects',
      update: async ({ control }) => {
        const seen = control.requests.length;
        control.drop();
        await waitUntil('the next stream', () => control.requests.length > seen + 2, LIMIT_MS);
        await control.quiet(LIMIT_MS);
      },
    },
  ];
}

function listenerQuestions({ certificates, logs }: LeakEnvironment): readonly Question[] {
  const ofListener = (name: string, make: (version: number) => object): Question => ({
    name,
    update: sending(LISTENER, (version) => [resource.listener(make(version))]),
  });
  return [
    ofListener('listeners', (version) => listenerOf(version, { listener: whole(version) })),
    ofListener('listeners, chains alone', (version) => listenerOf(version, {})),
    ofListener('listeners of other names', (version) =>
      listenerOf(version, { name: `web_${version}`, statPrefix: `web_${version}` }),
    ),
    ofListener('listeners of other stat_prefixes', (version) =>
      listenerOf(version, { listener: { stat_prefix: `web_${version}` } }),
    ),
    ofListener('listeners with logs of other names', (version) =>
      listenerOf(version, {
        listener: whole(version),
        hcm: {
          access_log: [
            {
              name: 'file',
              typed_config: {
                '@type': `${API}.extensions.access_loggers.file.v3.FileAccessLog`,
                path: join(logs, `${version}.log`),
              },
            },
          ],
        },
      }),
    ),
    ofListener('listeners over TLS', (version) =>
      secured(listenerOf(version, { listener: whole(version) }), certificates, version),
    ),
    ofListener('chains over TLS', (version) =>
      secured(listenerOf(version, {}), certificates, version),
    ),
  ];
}

function clusterQuestions({ upstreamPort, certificates }: LeakEnvironment): readonly Question[] {
  const prepare = (control: ControlPlane): void => {
    const route = { match: { prefix: '/' }, route: { cluster_header: 'x-cluster' } };
    control.set(LISTENER, '1', [resource.listener(httpListener([route]))]);
  };
  const ofCluster = (name: string, make: (version: number) => object, asks = true): Question => ({
    name,
    prepare,
    update: async (fleet, version) => {
      const made = make(version) as { readonly name: string };
      await sending(CLUSTER, () => [resource.cluster(made)])(fleet, version);
      if (asks) await askFor(fleet, made.name);
    },
  });
  const plain = (version: number, fields: object = {}): object =>
    staticCluster(`c_${version}`, [upstreamPort], fields);
  const check = {
    timeout: '1s',
    interval: '10s',
    unhealthy_threshold: 1,
    healthy_threshold: 1,
    http_health_check: { path: '/' },
  };
  const trusted = { trusted_ca: pem(certificates[0]?.chain) };
  const tls = {
    transport_socket: {
      name: 'tls',
      typed_config: {
        '@type': `${TLS}.UpstreamTlsContext`,
        common_tls_context: { validation_context: trusted },
      },
    },
  };
  return [
    ofCluster('clusters of other names', plain),
    ofCluster('clusters that change', (version) =>
      staticCluster('c', [upstreamPort], { connect_timeout: `${1 + (version % 2)}s` }),
    ),
    ofCluster('clusters of other names with checks', (version) =>
      plain(version, { health_checks: [check], outlier_detection: {} }),
    ),
    ofCluster('clusters that change with checks', (version) =>
      staticCluster('c', [upstreamPort], {
        connect_timeout: `${1 + (version % 2)}s`,
        health_checks: [check],
      }),
    ),
    ofCluster(
      'clusters of other names by STRICT_DNS',
      (version) => strictDns(`c_${version}`, upstreamPort),
      false,
    ),
    ofCluster('clusters of other names over TLS', (version) => plain(version, tls), false),
    {
      name: 'clusters of other names with endpoints by EDS',
      prepare,
      update: async (fleet, version) => {
        const name = `c_${version}`;
        fleet.control.set(ENDPOINTS, `${version}`, [resource.endpoints(name, [upstreamPort])]);
        const eds = { eds_cluster_config: { eds_config: ADS } };
        const cluster = resource.cluster({ name, type: 'EDS', connect_timeout: '1s', ...eds });
        await sending(CLUSTER, () => [cluster])(fleet, version);
        await askFor(fleet, name);
      },
    },
    {
      name: 'endpoints of other addresses',
      prepare,
      update: async (fleet, version) => {
        const address = {
          address: `127.0.${version >> 8}.${version & 255}`,
          port_value: upstreamPort,
        };
        const endpoint = { endpoint: { address: { socket_address: address } } };
        const assignment = resource.endpoints('service_0', []);
        const endpoints = [{ lb_endpoints: [endpoint] }];
        await sending(ENDPOINTS, () => [{ ...assignment, endpoints }])(fleet, version);
      },
    },
  ];
}

function routeQuestions(): readonly Question[] {
  const rds = (name: string): object =>
    resource.listener(
      httpListener([], {
        hcm: { route_config: undefined, rds: { config_source: ADS, route_config_name: name } },
      }),
    );
  const scoped = {
    name: 'scopes',
    scope_key_builder: {
      fragments: [
        { header_value_extractor: { name: 'x-scope', index: 0, element_separator: ',' } },
      ],
    },
    rds_config_source: ADS,
    scoped_rds: { scoped_rds_config_source: ADS },
  };
  return [
    {
      name: 'routes',
      prepare: (control) => control.set(LISTENER, '1', [rds('routes')]),
      update: sending(ROUTES, (version) => [resource.routes('routes', [routeSaying(version)])]),
    },
    {
      name: 'routes of other names',
      update: async (fleet, version) => {
        const name = `routes_${version}`;
        fleet.control.set(ROUTES, `${version}`, [resource.routes(name, [routeSaying(version)])]);
        await sending(LISTENER, () => [rds(name)])(fleet, version);
      },
    },
    {
      name: 'scopes of other names',
      prepare: (control) => {
        const hcm = { route_config: undefined, scoped_routes: scoped };
        control.set(LISTENER, '1', [resource.listener(httpListener([], { hcm }))]);
        control.set(ROUTES, '0', [resource.routes('scope_0', [routeSaying(0)])]);
        control.set(SCOPES, '0', [scopeOf(0)]);
      },
      update: async (fleet, version) => {
        const routes = resource.routes(`scope_${version}`, [routeSaying(version)]);
        fleet.control.set(ROUTES, `${version}`, [routes]);
        await sending(SCOPES, () => [scopeOf(version)])(fleet, version);
      },
    },
    {
      name: 'virtual hosts of other names',
      prepare: (control) => {
        control.set(LISTENER, '1', [rds('routes')]);
        const routes = { ...resource.routes('routes', []), virtual_hosts: [] };
        control.set(ROUTES, '1', [{ ...routes, vhds: { config_source: ADS } }]);
        control.set(HOST, '1', [hostOf(0)]);
      },
      update: async (fleet, version) => {
        fleet.control.sendRaw({
          type_url: `${API}.config.${HOST}`,
          system_version_info: `${version}`,
          resources: [{ name: `routes/host_${version}`, version: '1', resource: hostOf(version) }],
          removed_resources: [`routes/host_${version - 1}`],
        });
        await fleet.control.quiet(LIMIT_MS);
      },
    },
  ];
}

/** Secrets, settings of filters, runtime layers. */
function partQuestions({ certificates }: LeakEnvironment): readonly Question[] {
  const securedBy = (name: string): object => {
    const secrets = { tls_certificate_sds_secret_configs: [{ name, sds_config: ADS }] };
    return overTls(listenerOf(0, {}), { common_tls_context: secrets });
  };
  const secret = (name: string, version: number): object => ({
    '@type': `${TLS}.Secret`,
    name,
    tls_certificate: certificateOf(certificates, version),
  });
  const extension = (name: string, version: number): object => ({
    '@type': `${API}.config.${EXTENSION}`,
    name,
    typed_config: {
      '@type': `${API}.extensions.filters.http.header_mutation.v3.HeaderMutation`,
      mutations: {
        response_mutations: [{ append: { header: { key: 'x-from', value: `${version}` } } }],
      },
    },
  });
  const filtered = (name: string): object => {
    const discovery = {
      config_source: ADS,
      type_urls: [`${API}.extensions.filters.http.header_mutation.v3.HeaderMutation`],
    };
    const http_filters = [{ name, config_discovery: discovery }, ROUTER];
    return resource.listener(httpListener([routeSaying(0)], { hcm: { http_filters } }));
  };
  return [
    {
      name: 'secrets',
      prepare: (control) => {
        control.set(LISTENER, '1', [resource.listener(securedBy('secret'))]);
        control.set(SECRET, '1', [secret('secret', 0)]);
      },
      update: sending(SECRET, (version) => [secret('secret', version)]),
    },
    {
      name: 'secrets of other names',
      update: async (fleet, version) => {
        const name = `secret_${version}`;
        fleet.control.set(SECRET, `${version}`, [secret(name, version)]);
        await sending(LISTENER, () => [resource.listener(securedBy(name))])(fleet, version);
      },
    },
    {
      name: 'settings of a filter',
      prepare: (control) => {
        control.set(LISTENER, '1', [filtered('late')]);
        control.set(EXTENSION, '1', [extension('late', 0)]);
      },
      update: sending(EXTENSION, (version) => [extension('late', version)]),
    },
    {
      name: 'settings of filters of other names',
      update: async (fleet, version) => {
        const name = `late_${version}`;
        fleet.control.set(EXTENSION, `${version}`, [extension(name, version)]);
        await sending(LISTENER, () => [filtered(name)])(fleet, version);
      },
    },
    {
      name: 'runtime keys of other names',
      fields: () => ({
        layered_runtime: {
          layers: [{ name: 'one', rtds_layer: { name: 'ads', rtds_config: ADS } }],
        },
      }),
      prepare: (control) => control.set(RUNTIME, '1', [layer(0)]),
      update: sending(RUNTIME, (version) => [layer(version)]),
    },
  ];
}

function layer(version: number): object {
  return {
    '@type': `type.googleapis.com/${RUNTIME}`,
    name: 'ads',
    layer: { [`key_${version}`]: 1 },
  };
}

function fileQuestions({ upstreamPort }: LeakEnvironment): readonly Question[] {
  const write = (scratch: Scratch, version: number): void => {
    const answer = (
      resources: readonly object[],
    ): { version: string; resources: readonly object[] } => ({
      version: `${version}`,
      resources,
    });
    const cluster = staticCluster(`c_${version}`, [upstreamPort]);
    moveIntoPlace(scratch, 'cds.json', answer([resource.cluster(cluster)]));
    const listener = listenerOf(version, { listener: whole(version) });
    moveIntoPlace(scratch, 'lds.json', answer([resource.listener(listener)]));
  };
  return [
    {
      name: 'files of listeners and clusters',
      prepare: (_, scratch) => write(scratch, 0),
      fields: (scratch) => ({
        dynamic_resources: {
          lds_config: fileSource(scratch.file('lds.json')),
          cds_config: fileSource(scratch.file('cds.json')),
        },
      }),
      update: async ({ admin, scratch }, version) => {
        write(scratch, version);
        await waitUntil('the update', async () => {
          const answer = await fetch(`http://${admin}/config_dump?resource=dynamic_listeners`);
          const clusters = await fetch(
            `http://${admin}/config_dump?resource=dynamic_active_clusters`,
          );
          return (
            (await answer.text()).includes(`"inline_string": "${version}"`) &&
            (await clusters.text()).includes(`"c_${version}"`)
          );
        });
      },
    },
  ];
}

/** Sends these resources and waits for the word that they were taken. */
function sending(kind: string, make: (version: number) => readonly object[]): Question['update'] {
  return async ({ control }, version) => {
    control.set(kind, `${version}`, make(version));
    await control.quiet(LIMIT_MS);
  };
}

async function askFor({ admin }: Fleet, cluster: string): Promise<void> {
  const port = await listenerPort(admin);
  if (port === undefined) return;
  const ask = { port, path: '/', headers: { 'x-cluster': cluster } };
  await waitUntil(`an answer of ${cluster}`, async () => (await fetchOnce(ask)).status === 200);
}

/** More than chains changes, so that the listener drains as a whole. */
function whole(version: number): object {
  return { per_connection_buffer_limit_bytes: 100_000 + (version % 2) };
}

function listenerOf(
  version: number,
  options: {
    readonly name?: string;
    readonly statPrefix?: string;
    readonly listener?: object;
    readonly hcm?: object;
  },
): object {
  return httpListener([routeSaying(version)], options);
}

function secured(
  listener: object,
  certificates: readonly CertificateFiles[],
  version: number,
): object {
  const tls_certificates = [certificateOf(certificates, version)];
  return overTls(listener, { common_tls_context: { tls_certificates } });
}

function overTls(listener: object, context: object): object {
  const { filter_chains: chains } = listener as { readonly filter_chains: readonly object[] };
  const typed_config = { '@type': `${TLS}.DownstreamTlsContext`, ...context };
  const transport_socket = { name: 'tls', typed_config };
  return { ...listener, filter_chains: chains.map((each) => ({ ...each, transport_socket })) };
}

function certificateOf(certificates: readonly CertificateFiles[], version: number): object {
  const files = certificates[version % 2];
  return { certificate_chain: pem(files?.chain), private_key: pem(files?.key) };
}

function pem(path = ''): object {
  return { inline_string: readFileSync(path, 'utf8') };
}

function strictDns(name: string, port: number): object {
  const cluster = staticCluster(name, [port], { type: 'STRICT_DNS', dns_lookup_family: 'V4_ONLY' });
  return JSON.parse(JSON.stringify(cluster).replace('"127.0.0.1"', '"localhost"')) as object;
}

function scopeOf(version: number): object {
  const name = `scope_${version}`;
  return {
    '@type': `${API}.config.${SCOPES}`,
    name,
    route_configuration_name: name,
    key: { fragments: [{ string_key: name }] },
  };
}

function hostOf(version: number): object {
  const name = `host_${version}`;
  return {
    '@type': `${API}.config.${HOST}`,
    name,
    domains: [name],
    routes: [routeSaying(version)],
  };
}

function routeSaying(version: number): object {
  const body = { inline_string: `${version}` };
  return { match: { prefix: '/' }, direct_response: { status: 200, body } };
}
