/** The messages of the health discovery service in their wire form. */
import type { HealthCheckSpecifier } from '../../shared/api/generated/envoy/service/health/v3/hds.ts';
import type { JsonObject } from '../../shared/api/well-known.ts';
import { ApiCatalog } from '../config/api/api-catalog.ts';
import { encodeMessage } from '../config/convert/message-encoder.ts';
import { messageFromBinary } from '../config/message-codec.ts';
import type { Problem } from '../config/problem.ts';

const SENT = 'envoy.service.health.v3.HealthCheckRequestOrEndpointHealthResponse';
const RECEIVED = 'envoy.service.health.v3.HealthCheckSpecifier';

export class HealthMessages {
  readonly #catalog = new ApiCatalog();

  encode(message: JsonObject): Uint8Array {
    return encodeMessage(this.#catalog, this.#catalog.message(SENT), message);
  }

  /** Throws when the bytes are no such message, or one that breaks the API's rules. */
  decode(bytes: Uint8Array): HealthCheckSpecifier {
    const problems: Problem[] = [];
    const sink = { report: (problem: Problem) => problems.push(problem) };
    const options = { catalog: this.#catalog, sink, unknownFields: 'ignore' } as const;
    const message = messageFromBinary(options, RECEIVED, bytes);
    if (message === undefined) throw new Error(problems[0]?.message ?? 'an empty message');
    return message as HealthCheckSpecifier;
  }
}
