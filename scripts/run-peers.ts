/**
 * Control planes that others wrote drive the real server, unchanged and with their own bootstraps:
 * each is built from its module, and left out with a word when that is not possible. Not part of
 * `npm test`, since it needs the network and minutes to build: node dist/scripts/run-peers.js.
 * Words name the peers.
 */
import { serveEnvoyGateway } from '../test/clients/control-planes/envoy-gateway.ts';
import { runIntegrationScripts } from '../test/clients/control-planes/integration-scripts.ts';
import { serveIstio } from '../test/clients/control-planes/istio.ts';
import type { Outcome } from '../test/clients/outcome.ts';
import { printOutcomes } from '../test/clients/print-outcomes.ts';

const PEERS: Readonly<Record<string, () => Outcome | Promise<Outcome>>> = {
  'go-control-plane': runIntegrationScripts,
  'envoy-gateway': serveEnvoyGateway,
  istio: serveIstio,
};

await printOutcomes(PEERS, process.argv.slice(2));
