/**
 * Lets real control planes drive the real server, which they start or which is started with what
 * they say. Each plane is built once by the Go tool into the user's cache. A second word, `envoy`,
 * has Envoy driven in its place. Loopback only. Not part of `npm test`: npm run test:planes
 */
import { runTrials } from '../programs/run-trials.ts';
import { consulTrials } from './consul/consul-trials.ts';
import { gatewayTrials } from './gateway/gateway-trials.ts';
import { gatewayServiceTrials } from './gateway/service-trials.ts';
import { istioTrials } from './istio/istio-trials.ts';
import { kumaTrials } from './kuma/kuma-trials.ts';

const [wanted = '', proxy] = process.argv.slice(2);
const driven = proxy === 'envoy' ? 'envoy' : 'sluice';
const trials = [
  ...gatewayTrials(driven),
  ...gatewayServiceTrials(driven),
  ...consulTrials(driven),
  ...istioTrials(driven),
  ...kumaTrials(driven),
];
process.exitCode = (await runTrials(trials, wanted)) > 0 ? 1 : 0;
