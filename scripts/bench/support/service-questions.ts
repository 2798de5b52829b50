/**
 * The questions of `npm run bench` about filters that ask services and about tracing, asked of
 * Sluice and Envoy alone, each with the same filter and the same service behind it.
 */
import { jwks, makeSigner } from '../../../test/support/parts/tokens.ts';
import { GRPC_SERVICE_PORT_OFFSET, SERVICE_PORT_OFFSET } from './asked-services.ts';
import type { BootstrapParts, FilterParts } from './bootstrap.ts';
import { type Question, throughput } from './questions.ts';

const TYPE = 'type.googleapis.com';
const FILTERS = `${TYPE}/envoy.extensions.filters.http`;
const UNIT = 'requests/s, GET of 13 bytes, 64 connections';
const KEEP_ALIVE = throughput({ connections: 64 });
/** More than are remembered at a time, so that each is a new one. */
const TOKENS = 2_000;

const GRPC_SERVICE = { grpc_service: { envoy_grpc: { cluster_name: 'service' }, timeout: '2s' } };

function httpFilter(name: string, message: string, config: object): object {
  const typed_config = { '@type': `${FILTERS}.${name}.v3.${message}`, ...config };
  return { name: `envoy.filters.http.${name}`, typed_config };
}

function withService(http_filters: readonly object[], isGrpc: boolean): Filters {
  return ({ upstreamPort }) => ({ http_filters, service: serviceAt(upstreamPort, isGrpc) });
}

function serviceAt(upstreamPort: number, isGrpc: boolean): NonNullable<FilterParts['service']> {
  const offset = isGrpc ? GRPC_SERVICE_PORT_OFFSET : SERVICE_PORT_OFFSET;
  return { port: upstreamPort + offset, isGrpc };
}

const checkByHttp = httpFilter('ext_authz', 'ExtAuthz', {
  http_service: { server_uri: { uri: 'http://service', cluster: 'service', timeout: '2s' } },
});
const checkByGrpc = httpFilter('ext_authz', 'ExtAuthz', GRPC_SERVICE);
const rateLimit = httpFilter('ratelimit', 'RateLimit', {
  domain: 'bench',
  rate_limit_service: GRPC_SERVICE,
});
const script = httpFilter('lua', 'Lua', {
  default_source_code: {
    inline_string: `function envoy_on_request(handle)
  local agent = handle:headers():get("user-agent")
  local host = handle:headers():get(":authority")
  handle:headers():replace("x-agent", agent or "none")
  handle:headers():replace("x-host", host)
end`,
  },
});
const expression = httpFilter('rbac', 'RBAC', {
  rules: {
    action: 'ALLOW',
    policies: {
      all: {
        permissions: [{ any: true }],
        principals: [{ any: true }],
        // request.method == "GET"
        condition: {
          call_expr: {
            function: '_==_',
            args: [
              { select_expr: { operand: { ident_expr: { name: 'request' } }, field: 'method' } },
              { const_expr: { string_value: 'GET' } },
            ],
          },
        },
      },
    },
  },
});

type Filters = NonNullable<Question['filters']>;

/** The tokens and their keys, made once a run. */
const tokens = ((): (() => { readonly keys: string; readonly all: readonly string[] }) => {
  let made: { readonly keys: string; readonly all: readonly string[] } | undefined;
  return () => {
    if (made !== undefined) return made;
    const signer = makeSigner('RS256');
    const exp = Math.floor(Date.now() / 1000) + 24 * 3600;
    const all = Array.from({ length: TOKENS }, (_, id) =>
      signer.sign({ iss: 'bench', sub: `user-${id}`, exp }),
    );
    made = { keys: jwks([signer]), all };
    return made;
  };
})();

const verified: Filters = () => ({
  http_filters: [
    httpFilter('jwt_authn', 'JwtAuthentication', {
      providers: { bench: { issuer: 'bench', local_jwks: { inline_string: tokens().keys } } },
      rules: [{ match: { prefix: '/' }, requires: { provider_name: 'bench' } }],
    }),
  ],
});

const traced = (percent: number): Filters => {
  return ({ upstreamPort }: BootstrapParts) => ({
    http_filters: [],
    service: serviceAt(upstreamPort, true),
    hcm: {
      tracing: {
        random_sampling: { value: percent },
        provider: {
          name: 'envoy.tracers.opentelemetry',
          typed_config: {
            '@type': `${TYPE}/envoy.config.trace.v3.OpenTelemetryConfig`,
            service_name: 'bench',
            ...GRPC_SERVICE,
          },
        },
      },
    },
  });
};

const oneToken: Question['measure'] = (port, running, seconds) => {
  const headers = [`Authorization: Bearer ${tokens().all[0] ?? ''}`];
  return throughput({ connections: 64, headers })(port, running, seconds);
};
const newTokens: Question['measure'] = (port, running, seconds) => {
  const values = tokens().all.map((token) => `Bearer ${token}`);
  const inTurns = { header: 'Authorization', values };
  return throughput({ connections: 64, inTurns })(port, running, seconds);
};

export const serviceQuestions: readonly Question[] = [
  {
    name: 'ext-authz-http',
    unit: `${UNIT}, each checked by a service over HTTP`,
    toReference: 1.3,
    filters: withService([checkByHttp], false),
    measure: KEEP_ALIVE,
  },
  {
    name: 'ext-authz-grpc',
    unit: `${UNIT}, each checked by a service over gRPC`,
    toReference: 1.3,
    filters: withService([checkByGrpc], true),
    measure: KEEP_ALIVE,
  },
  {
    name: 'ratelimit',
    unit: `${UNIT}, each counted by a service over gRPC`,
    toReference: 1.3,
    filters: ({ upstreamPort }) => ({
      http_filters: [rateLimit],
      service: serviceAt(upstreamPort, true),
      route: { rate_limits: [{ actions: [{ remote_address: {} }] }] },
    }),
    measure: KEEP_ALIVE,
  },
  {
    name: 'jwt-one-token',
    unit: `${UNIT}, one RS256 token for all`,
    toReference: 1.5,
    filters: verified,
    measure: oneToken,
  },
  {
    name: 'jwt-new-tokens',
    unit: `${UNIT}, ${TOKENS} RS256 tokens in turns`,
    toReference: 1,
    filters: verified,
    measure: newTokens,
  },
  {
    name: 'lua',
    unit: `${UNIT}, a script that reads and sets two headers`,
    toReference: 0.8,
    filters: () => ({ http_filters: [script] }),
    measure: KEEP_ALIVE,
  },
  {
    name: 'cel-rbac',
    unit: `${UNIT}, RBAC by a CEL condition`,
    toReference: 1.3,
    filters: () => ({ http_filters: [expression] }),
    measure: KEEP_ALIVE,
  },
  {
    name: 'tracing-1',
    unit: `${UNIT}, 1 % of them traced by OpenTelemetry over gRPC`,
    toReference: 1.5,
    filters: traced(1),
    measure: KEEP_ALIVE,
  },
  {
    name: 'tracing-100',
    unit: `${UNIT}, all of them traced by OpenTelemetry over gRPC`,
    toReference: 1.2,
    filters: traced(100),
    measure: KEEP_ALIVE,
  },
];
