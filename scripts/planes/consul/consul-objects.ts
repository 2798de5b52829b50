/** What the trial writes into Consul: services with their data planes, and config entries. */
import { jwks } from '../../../test/support/parts/tokens.ts';
import type { ConsulAgent } from './consul-agent.ts';
import type { ConsulWorld } from './consul-world.ts';

const LOOPBACK = '127.0.0.1';

/** The ids of all data planes. */
export const PROXIES: readonly string[] = [
  'api-1-sidecar-proxy',
  'api-2-sidecar-proxy',
  'greeter-sidecar-proxy',
  'db-sidecar-proxy',
  'web-sidecar-proxy',
  'ingress',
  'terminating',
  'mesh',
];

export async function writeObjects(agent: ConsulAgent, world: ConsulWorld): Promise<void> {
  for (const entry of [...protocols(), ...routing(), ...rules(world), ...gateways(world)]) {
    await agent.put('/config', entry);
  }
  for (const service of [...services(world), ...gatewayServices(world)]) {
    await agent.put('/agent/service/register', service);
  }
  await agent.put('/catalog/register', {
    Node: 'elsewhere',
    Address: LOOPBACK,
    SkipNodeUpdate: false,
    Service: { Service: 'outside', Address: LOOPBACK, Port: world.outside.port },
  });
}

/** Whether `web` may use a service. */
export function intention(service: string, action: 'allow' | 'deny'): object {
  return {
    Kind: 'service-intentions',
    Name: service,
    Sources: [{ Name: 'web', Action: action }],
  };
}

function protocols(): readonly object[] {
  const names: readonly (readonly [string, string])[] = [
    ['web', 'http'],
    ['api', 'http'],
    ['ledger', 'http'],
    ['outside', 'http'],
    ['greeter', 'grpc'],
    ['db', 'tcp'],
  ];
  return names.map(([Name, Protocol]) => ({ Kind: 'service-defaults', Name, Protocol }));
}

function routing(): readonly object[] {
  const version = (name: string): object => ({ Filter: `Service.Meta.version == ${name}` });
  const to = (fields: object, http: object): object => ({
    Match: { HTTP: http },
    Destination: { Service: 'api', ...fields },
  });
  return [
    {
      Kind: 'service-resolver',
      Name: 'api',
      Subsets: { one: version('one'), two: version('two') },
      LoadBalancer: { Policy: 'least_request' },
    },
    {
      Kind: 'service-resolver',
      Name: 'ledger',
      Failover: { '*': { Service: 'api', ServiceSubset: 'two' } },
    },
    {
      Kind: 'service-splitter',
      Name: 'api',
      Splits: [
        {
          Weight: 50,
          ServiceSubset: 'one',
          ResponseHeaders: { Set: { 'x-split': 'one' } },
        },
        { Weight: 50, ServiceSubset: 'two' },
      ],
    },
    {
      Kind: 'service-router',
      Name: 'api',
      Routes: [
        to({ ServiceSubset: 'two' }, { Header: [{ Name: 'x-canary', Exact: 'yes' }] }),
        to({ ServiceSubset: 'two' }, { QueryParam: [{ Name: 'version', Exact: 'two' }] }),
        to({ ServiceSubset: 'one', PrefixRewrite: '/new' }, { PathPrefix: '/old' }),
        to({ NumRetries: 3, RetryOnStatusCodes: [503] }, { PathPrefix: '/flaky' }),
        to({ RequestTimeout: '300ms' }, { PathPrefix: '/slow' }),
        to(
          {
            ServiceSubset: 'one',
            RequestHeaders: { Add: { 'x-added': 'here' }, Remove: ['x-removed'] },
          },
          { PathRegex: '/heads/[a-z]+', Methods: ['GET'] },
        ),
      ],
    },
  ];
}

function rules({ signer }: ConsulWorld): readonly object[] {
  const prefix = (PathPrefix: string): object => ({ HTTP: { PathPrefix } });
  const claims = [{ Path: ['role'], Value: 'admin' }];
  return [
    {
      Kind: 'jwt-provider',
      Name: 'tried',
      Issuer: 'tried',
      JSONWebKeySet: { Local: { JWKS: Buffer.from(jwks([signer])).toString('base64') } },
      Forwarding: { HeaderName: 'x-token' },
    },
    {
      Kind: 'service-intentions',
      Name: 'api',
      Sources: [
        {
          Name: 'web',
          Permissions: [
            { Action: 'deny', ...prefix('/secret') },
            {
              Action: 'allow',
              ...prefix('/jwt'),
              JWT: { Providers: [{ Name: 'tried', VerifyClaims: claims }] },
            },
            { Action: 'deny', ...prefix('/jwt') },
            { Action: 'allow', ...prefix('/') },
          ],
        },
        { Name: 'ingress', Action: 'allow' },
      ],
    },
    ...['db', 'greeter', 'outside'].map((name) => intention(name, 'allow')),
  ];
}

function gateways({ ports }: ConsulWorld): readonly object[] {
  const listener = { Port: ports.ingressAt, Protocol: 'http' };
  return [
    {
      Kind: 'ingress-gateway',
      Name: 'ingress',
      Listeners: [{ ...listener, Services: [{ Name: 'api', Hosts: ['api.test'] }] }],
    },
    { Kind: 'terminating-gateway', Name: 'terminating', Services: [{ Name: 'outside' }] },
  ];
}

function services({ ports, one, two, echo, dbPort }: ConsulWorld): readonly object[] {
  const service = (Name: string, Port: number, sidecar: object, more: object = {}): object => ({
    Name,
    Port,
    Address: LOOPBACK,
    Connect: { SidecarService: { Address: LOOPBACK, Checks: [], ...sidecar } },
    ...more,
  });
  const versioned = (id: string, version: string): object => ({
    ID: id,
    Meta: { version },
  });
  const reached = (name: string, port: number): object => ({
    DestinationName: name,
    LocalBindPort: port,
  });
  const Upstreams = [
    reached('api', ports.apiAt),
    reached('greeter', ports.greeterAt),
    reached('db', ports.dbAt),
    reached('ledger', ports.ledgerAt),
    reached('outside', ports.outsideAt),
  ];
  return [
    service('api', one.port, { Port: ports.apiOne }, versioned('api-1', 'one')),
    service('api', two.port, { Port: ports.apiTwo }, versioned('api-2', 'two')),
    service('greeter', echo.port, { Port: ports.greeter }),
    service('db', dbPort, { Port: ports.db }),
    service('web', 1, { Port: ports.web, Proxy: { Upstreams } }),
    // Its only instance is ill for good.
    service('ledger', 1, { Port: 1 }, { Check: { TTL: '1h', Status: 'critical' } }),
  ];
}

function gatewayServices({ ports }: ConsulWorld): readonly object[] {
  const gateway = (Kind: string, Name: string, Port: number): object => ({
    Kind,
    ID: Name,
    Name,
    Port,
    Address: LOOPBACK,
  });
  return [
    gateway('ingress-gateway', 'ingress', ports.ingress),
    gateway('terminating-gateway', 'terminating', ports.terminating),
    gateway('mesh-gateway', 'mesh', ports.mesh),
  ];
}
