/** The messages of the load reporting service in their wire form. */
import type { LoadStatsResponse } from '../../shared/api/generated/envoy/service/load_stats/v3/lrs.ts';
import type { JsonObject } from '../../shared/api/well-known.ts';
import { ApiCatalog } from '../config/api/api-catalog.ts';
import { decodeMessage } from '../config/convert/message-decoder.ts';
import { encodeMessage } from '../config/convert/message-encoder.ts';

const REQUEST = 'envoy.service.load_stats.v3.LoadStatsRequest';
const RESPONSE = 'envoy.service.load_stats.v3.LoadStatsResponse';
/** What a control plane may count on. */
const FEATURES = ['envoy.lrs.supports_send_all_clusters'];

export class LoadMessages {
  readonly #catalog = new ApiCatalog();
  readonly #node: JsonObject;

  /** `node` as this server names itself. */
  constructor(node: JsonObject) {
    const { client_features: features = [] } = node;
    const all = [...(features as readonly string[]), ...FEATURES];
    this.#node = { ...node, client_features: all };
  }

  encode(fields: JsonObject): Uint8Array {
    const type = this.#catalog.message(REQUEST);
    return encodeMessage(this.#catalog, type, { node: this.#node, ...fields });
  }

  /** Throws when the bytes are no such message. */
  decode(bytes: Uint8Array): LoadStatsResponse {
    const options = { catalog: this.#catalog, onUnknownField: () => undefined };
    return decodeMessage(options, this.#catalog.message(RESPONSE), bytes) as LoadStatsResponse;
  }
}
