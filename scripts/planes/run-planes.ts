/**
 * Lets real control planes drive the real server, which they start or which is started with what
 * they say. Each plane is built once by the Go tool into the user's cache. A second word, `envoy`,
 * has Envoy driven in its place; `--beside-envoy` has both driven, one after the other, without the
 * restarts that only Sluice is given. Loopback only. Not part of `npm test`: npm run test:planes
 */
import { parseArgs } from 'node:util';
import { runTrials } from '../programs/run-trials.ts';
import { consulTrials } from './consul/consul-trials.ts';
import type { DataPlane } from './data-plane.ts';
import { gatewayTrials } from './gateway/gateway-trials.ts';
import { gatewayServiceTrials } from './gateway/service-trials.ts';
import { istioTrials } from './istio/istio-trials.ts';
import { kumaTrials } from './kuma/kuma-trials.ts';

const { values, positionals } = parseArgs({
  options: { 'beside-envoy': { type: 'boolean', default: false } },
  allowPositionals: true,
});
const [wanted = '', proxy] = positionals;
const isCompared = values['beside-envoy'];
const driven: readonly DataPlane[] = isCompared
  ? ['sluice', 'envoy']
  : [proxy === 'envoy' ? 'envoy' : 'sluice'];
const trials = driven.flatMap((each) => [
  ...gatewayTrials(each, isCompared),
  ...gatewayServiceTrials(each),
  ...consulTrials(each),
  ...istioTrials(each),
  ...kumaTrials(each),
]);
process.exitCode = (await runTrials(trials, wanted)) > 0 ? 1 : 0;
