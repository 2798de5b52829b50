/**
 * The order in which the answers of a stream are taken: those of one type one after the other, and
 * clusters before what names them. Decoding them goes on meanwhile.
 */
import type { DiscoveryKind } from '../../resolved/resource-kinds.ts';
import type { TypeState } from './mux-state.ts';

/** What names clusters and is taken without waiting for them. */
const NAMING: ReadonlySet<DiscoveryKind> = new Set(['listener', 'route_configuration']);

export class AnswerOrder {
  /** Settles when the answers so far were read, and those for clusters are in force. */
  #decoded: Promise<unknown> = Promise.resolve();

  /** Short answers do not overtake long ones that were sent before them. */
  async take(
    state: TypeState,
    types: ReadonlyMap<string, TypeState>,
    decoding: Promise<unknown>,
    answer: (decoded: unknown) => Promise<void>,
  ): Promise<void> {
    const before = [this.#decoded, decoding, state.last, ...namingBefore(state, types)];
    const turn = Promise.all(before);
    this.#decoded = Promise.all([this.#decoded, decoding]).then(() => undefined);
    state.last = turn.then(([, decoded]) => answer(decoded));
    // What names clusters finds those that were sent before it.
    if (state.type.kind === 'cluster') this.#decoded = state.last;
    await state.last;
  }
}

/** Clusters go when what was sent before them and names them is known. */
function namingBefore(
  { type }: TypeState,
  types: ReadonlyMap<string, TypeState>,
): readonly Promise<void>[] {
  if (type.kind !== 'cluster') return [];
  const others = [...types.values()].filter(({ type: other }) => NAMING.has(other.kind));
  return others.map(({ last }) => last);
}
