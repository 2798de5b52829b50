/**
 * Runs programs that others wrote against the admin interface of the real server, unchanged: each
 * is fetched by its own package manager, and left out with a word when that is not there. Not part
 * of `npm test`, since it needs the network: npm run test:clients. Words name the clients to run.
 */
import { shutDownWithContour } from '../test/clients/contour.ts';
import { shutDownWithEnvoyGateway } from '../test/clients/envoy-gateway.ts';
import { runFuncE } from '../test/clients/func-e.ts';
import { drainAsGateways } from '../test/clients/gateways.ts';
import { decodeWithGo } from '../test/clients/go-control-plane.ts';
import type { Outcome } from '../test/clients/outcome.ts';
import { askWithPilotAgent } from '../test/clients/pilot-agent.ts';
import { printOutcomes } from '../test/clients/print-outcomes.ts';
import { readProfiles } from '../test/clients/pprof.ts';
import { checkWithPromtool } from '../test/clients/promtool.ts';

const CLIENTS: Readonly<Record<string, () => Outcome | Promise<Outcome>>> = {
  'go-control-plane': decodeWithGo,
  promtool: checkWithPromtool,
  pprof: readProfiles,
  gateways: drainAsGateways,
  contour: shutDownWithContour,
  'envoy-gateway': shutDownWithEnvoyGateway,
  'pilot-agent': askWithPilotAgent,
  'func-e': runFuncE,
};

await printOutcomes(CLIENTS, process.argv.slice(2));
