/** Real authorisation services: Istio's sample over HTTP and gRPC, and Open Policy Agent. */
import { writeFileSync } from 'node:fs';
import { freePort } from '../../test/support/free-port.ts';
import { staticCluster } from '../../test/support/parts/bootstrap.ts';
import { grpcCluster } from '../../test/support/peers/services/asked-services.ts';
import { makeScratch } from '../../test/support/scratch.ts';
import { built, type GoProgram, trialWithGo } from '../programs/go-programs.ts';
import { check, passed, type Trial, type TrialOutcome } from '../programs/trial.ts';
import { type Between, grpcService, httpFilter, startAsking } from './between.ts';
import { type RealService, startService } from './real-service.ts';

const ISTIO_SAMPLE: GoProgram = {
  module: 'istio.io/istio/samples/extauthz/cmd/extauthz',
  version: 'v0.0.0-20260827124520-eed52ebb66ad',
  folder: 'istio-extauthz',
};
const OPEN_POLICY_AGENT: GoProgram = {
  module: 'github.com/open-policy-agent/opa-envoy-plugin/cmd/opa-envoy-plugin',
  version: 'v1.0.0-envoy',
  folder: 'opa-envoy-plugin',
  sums: [
    ' h1:HUuR33CLBoHJM8Cn75qUiFripmTqq+po7XmZYt7p9Qc=',
    '/go.mod h1:fIp3GJ/Mza5coH9ErwmEiCuBeJR3CKz7Q7p09kicPxA=',
  ],
};
const ASKED_AT_ONCE = 100;
const RESULT = 'x-ext-authz-check-result';
const RECEIVED = 'x-ext-authz-check-received';

/** A decision for each kind of thing that a check tells: method, path, header, body. */
const POLICY = `
package envoy.authz

http := input.attributes.request.http

default allow := false

allow if {
  http.method == "GET"
  input.parsed_path == ["public"]
}

allow if http.headers["x-role"] == "admin"

allow if {
  http.method == "POST"
  input.parsed_body.amount < 100
}

headers["x-decided-by"] := "policy"
body := sprintf("no %s for you", [http.method])
status_code := 409
result["allowed"] := allow
result["headers"] := headers
result["body"] := body
result["http_status"] := status_code
`;

export const authorisationTrials: readonly Trial[] = [
  trialWithGo("Istio's authorisation sample over gRPC", () => sampleDecides('grpc')),
  trialWithGo("Istio's authorisation sample over HTTP", () => sampleDecides('http')),
  trialWithGo('Open Policy Agent', policyDecides),
];

async function sampleDecides(protocol: 'grpc' | 'http'): Promise<TrialOutcome> {
  const command = await built(ISTIO_SAMPLE);
  const [http, grpc] = [await freePort(), await freePort()];
  const args = ['-http', String(http), '-grpc', String(grpc)];
  await using service = await startService({ command, args, ports: [http, grpc] });
  const toHeaders = { patterns: [{ prefix: 'x-ext-authz' }] };
  const config =
    protocol === 'grpc'
      ? grpcService('auth')
      : {
          http_service: {
            server_uri: { uri: `127.0.0.1:${http}`, cluster: 'auth', timeout: '2s' },
            authorization_request: { allowed_headers: toHeaders },
            authorization_response: {
              allowed_upstream_headers: toHeaders,
              allowed_client_headers: toHeaders,
            },
          },
        };
  await using between = await startAsking({
    filters: [httpFilter('ext_authz', 'ExtAuthz', config)],
    clusters: [protocol === 'grpc' ? grpcCluster('auth', grpc) : staticCluster('auth', [http])],
  });
  const denied = await between.ask({ path: '/secret' });
  check(denied.status === 403 && denied.body.startsWith('denied by ext_authz'), denied.body);
  check(denied.headers[RESULT] === 'denied', 'the answer says what was decided');
  check(String(denied.headers[RECEIVED]).includes('/secret'), 'the service was told the path');
  const allowed = await between.ask({ path: '/', headers: { 'x-ext-authz': 'allow' } });
  check(allowed.status === 200, `allowed: ${allowed.status}`);
  const seen = between.upstream.requests.at(-1)?.headers ?? {};
  check(seen[RESULT] === 'allowed', 'the host is told the decision');
  await manyAtOnce(between, 'x-ext-authz', 'allow');
  return passed(`${await refusesWithout(between, service)}, ${ASKED_AT_ONCE} at once`);
}

/** Every second one may pass; what passes and what does not is never mixed up. */
async function manyAtOnce(between: Between, header: string, value: string): Promise<void> {
  const asked = Array.from({ length: ASKED_AT_ONCE }, async (_, index) => {
    const headers = { [header]: index % 2 === 0 ? value : 'no' };
    return (await between.ask({ headers })).status === 200;
  });
  const wrong = (await Promise.all(asked)).filter((passes, index) => passes !== (index % 2 === 0));
  check(wrong.length === 0, `${wrong.length} of ${ASKED_AT_ONCE} wrong decisions`);
}

async function refusesWithout(between: Between, service: RealService): Promise<string> {
  await service.kill();
  const { status } = await between.ask({ headers: { 'x-ext-authz': 'allow', 'x-role': 'admin' } });
  check(status === 403, `without the service: ${status}`);
  return 'decides, and nothing passes without it';
}

async function policyDecides(): Promise<TrialOutcome> {
  const command = await built(OPEN_POLICY_AGENT);
  using scratch = makeScratch();
  const policy = scratch.file('policy.rego');
  writeFileSync(policy, POLICY);
  const [grpc, http, diagnostics] = [await freePort(), await freePort(), await freePort()];
  const args = [
    'run',
    '--server',
    '--disable-telemetry',
    `--addr=127.0.0.1:${http}`,
    `--diagnostic-addr=127.0.0.1:${diagnostics}`,
    `--set=plugins.envoy_ext_authz_grpc.addr=127.0.0.1:${grpc}`,
    '--set=plugins.envoy_ext_authz_grpc.path=envoy/authz/result',
    policy,
  ];
  await using service = await startService({ command, args, ports: [grpc] });
  const withBody = { max_request_bytes: 1024, allow_partial_message: false };
  await using between = await startAsking({
    filters: [
      httpFilter('ext_authz', 'ExtAuthz', { ...grpcService('auth'), with_request_body: withBody }),
    ],
    clusters: [grpcCluster('auth', grpc)],
  });
  const json = { 'content-type': 'application/json' };
  const pay = (amount: number): object => ({
    method: 'POST',
    path: '/pay',
    headers: json,
    body: JSON.stringify({ amount }),
  });
  const decisions: readonly (readonly [string, object, number])[] = [
    ['a public path', { path: '/public' }, 200],
    ['another path', { path: '/private' }, 409],
    ['a role', { path: '/private', headers: { 'x-role': 'admin' } }, 200],
    ['a small amount', pay(99), 200],
    ['a large amount', pay(100), 409],
    ['a body above the limit', { ...pay(1), body: ' '.repeat(1025) }, 413],
  ];
  for (const [what, asked, status] of decisions) {
    const answer = await between.ask(asked);
    check(answer.status === status, `${what}: ${answer.status} ${service.output()}`);
    if (status === 200) continue;
    check(status === 413 || /^no (GET|POST) for you$/.test(answer.body), answer.body);
  }
  const seen = between.upstream.requests.at(-1);
  check(seen?.body === JSON.stringify({ amount: 99 }), 'the body went on');
  check(seen?.headers['x-decided-by'] === 'policy', 'the header of the policy');
  await manyAtOnce(between, 'x-role', 'admin');
  return passed(`${decisions.length} decisions; ${await refusesWithout(between, service)}`);
}
