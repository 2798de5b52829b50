/**
 * The state-of-the-world protocol over one stream: for each type it asks for all names that are
 * wanted, and answers every response with its nonce (ACK with the new version, NACK with the old
 * one and the reason).
 */
import { decodeStreamedResponse } from './decode-response.ts';
import { errorDetail, type MuxOptions } from './discovery-request.ts';
import { withoutDuplicates, type DiscoveryUpdate } from './discovery-update.ts';
import type { RequestCause, TypeState } from './mux-state.ts';
import { StreamMux } from './stream-mux.ts';
import type { Subscription } from './subscription.ts';

interface SotwState extends TypeState {
  isRequestWanted: boolean;
}

export class GrpcMux extends StreamMux<SotwState> {
  constructor(options: MuxOptions) {
    super(options, { kind: 'sotw', request: 'DiscoveryRequest', decode: decodeOnce });
  }

  protected override withState(common: TypeState): SotwState {
    return { ...common, isRequestWanted: true };
  }

  protected override streamBegan(state: SotwState): void {
    state.nonce = '';
    state.isRequestWanted = true;
  }

  protected override wanted(
    state: SotwState,
    { names }: Subscription,
    added: readonly string[],
  ): void {
    if (names.length === 0 || added.length > 0) state.isRequestWanted = true;
  }

  protected override unwanted(state: SotwState, gone: readonly string[]): void {
    if (gone.length > 0) state.isRequestWanted = true;
  }

  protected override taken({ type, interests, known }: SotwState, update: DiscoveryUpdate): void {
    if (type.isWholeSet) return;
    for (const each of update.resources) if (interests.has(each.name)) known.set(each.name, each);
  }

  protected override isDue({ isRequestWanted, nonce, interests }: SotwState): boolean {
    // To ask for no name would be to ask for all.
    return isRequestWanted && (nonce !== '' || interests.all.size > 0);
  }

  protected override message(
    state: SotwState,
    { nonce, refusal }: RequestCause,
  ): Readonly<Record<string, unknown>> {
    const { interests, type, versionInfo } = state;
    state.isRequestWanted = false;
    return {
      ...(versionInfo === '' ? {} : { version_info: versionInfo }),
      resource_names: interests.names,
      type_url: type.typeUrl,
      ...(nonce === '' ? {} : { response_nonce: nonce }),
      ...errorDetail(refusal),
    };
  }
}

/**
 * A subscriber that wants a resource by its name gets the first of that name; a whole set is judged
 * as it is.
 */
const decodeOnce: typeof decodeStreamedResponse = async (source, type, environment) => {
  const update = await decodeStreamedResponse(source, type, environment);
  if (type.isWholeSet) return update;
  return { ...update, resources: withoutDuplicates(update.resources).first };
};
