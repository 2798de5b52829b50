/** Istio's objects for the trial: a service of two versions, who may use it, and its routes. */
import { jwks, type Signer } from '../../../test/support/parts/tokens.ts';
import type { Sidecar } from './istio-plane.ts';

export const WEB: Sidecar = { app: 'web', version: 'one', address: '127.0.0.3' };
export const APIS: readonly Sidecar[] = [
  { app: 'api', version: 'one', address: '127.0.0.4' },
  { app: 'api', version: 'two', address: '127.0.0.5' },
];

interface IstioPorts {
  /** Where `web` reaches the service. */
  readonly service: number;
  /** Where the data planes of the service listen. */
  readonly inbound: number;
  /** The hosts behind them, in the order of `APIS`. */
  readonly hosts: readonly number[];
}

export function istioObjects(ports: IstioPorts, signer: Signer): readonly object[] {
  return [...service(ports), ...routes(), ...rules(signer)];
}

function object(group: string, kind: string, name: string, spec: object): object {
  const namespace = name === 'mesh' ? 'istio-system' : 'default';
  return { apiVersion: `${group}.istio.io/v1`, kind, metadata: { name, namespace }, spec };
}

function service({ service: number, inbound, hosts }: IstioPorts): readonly object[] {
  const entry = object('networking', 'ServiceEntry', 'api', {
    hosts: ['api.test'],
    location: 'MESH_INTERNAL',
    resolution: 'STATIC',
    ports: [{ number, name: 'http', protocol: 'HTTP', targetPort: inbound }],
    endpoints: APIS.map(({ address, app, version }) => ({
      address,
      labels: { app, version, 'security.istio.io/tlsMode': 'istio' },
      serviceAccount: app,
    })),
  });
  const sidecars = APIS.map(({ app, version, address }, index) =>
    object('networking', 'Sidecar', `${app}-${version}`, {
      workloadSelector: { labels: { app, version } },
      ingress: [
        {
          port: { number: inbound, name: 'http', protocol: 'HTTP' },
          bind: address,
          defaultEndpoint: `127.0.0.1:${hosts[index]}`,
        },
      ],
      egress: [{ hosts: ['~/*'] }],
    }),
  );
  return [entry, ...sidecars];
}

function routes(): readonly object[] {
  const to = (subset: string): object => ({ destination: { host: 'api.test', subset } });
  return [
    object('networking', 'DestinationRule', 'api', {
      host: 'api.test',
      subsets: APIS.map(({ version }) => ({ name: version, labels: { version } })),
    }),
    object('networking', 'VirtualService', 'api', {
      hosts: ['api.test'],
      http: [
        {
          match: [{ uri: { prefix: '/fault' } }],
          fault: { abort: { httpStatus: 418, percentage: { value: 100 } } },
          route: [to('one')],
        },
        { match: [{ headers: { 'x-canary': { exact: 'yes' } } }], route: [to('two')] },
        {
          route: [
            { ...to('one'), weight: 50 },
            { ...to('two'), weight: 50 },
          ],
        },
      ],
    }),
  ];
}

function rules(signer: Signer): readonly object[] {
  const selector = { matchLabels: { app: 'api' } };
  const web = 'cluster.local/ns/default/sa/web';
  return [
    object('security', 'PeerAuthentication', 'mesh', { mtls: { mode: 'STRICT' } }),
    object('security', 'RequestAuthentication', 'api', {
      selector,
      jwtRules: [{ issuer: 'tried', jwks: jwks([signer]) }],
    }),
    object('security', 'AuthorizationPolicy', 'refused', {
      selector,
      action: 'DENY',
      rules: [
        { to: [{ operation: { paths: ['/secret*'] } }] },
        { from: [{ source: { notRequestPrincipals: ['*'] } }], to: [jwtPaths()] },
      ],
    }),
    object('security', 'AuthorizationPolicy', 'allowed', {
      selector,
      rules: [{ from: [{ source: { principals: [web] } }] }],
    }),
  ];
}

function jwtPaths(): object {
  return { operation: { paths: ['/jwt*'] } };
}
