/** What the agents of Istio and Envoy Gateway ask, byte for byte, by a small Go program. */
import { outcomeOfGo, type Outcome } from './outcome.ts';

/**
 * What the shutdown managers of Istio and Envoy Gateway ask, decoded by the rules of their source.
 */
export function drainAsGateways(): Promise<Outcome> {
  return outcomeOfGo('questions of Istio and Envoy Gateway', 'gateways');
}
