/**
 * One type of resource in a fuzz of updates: what the control plane says of it, and what should be
 * seen of that.
 */
import assert from 'node:assert/strict';
import type { Sluice } from '../programs/sluice.ts';

/** A whole number from 0 below the limit, the same in every run with the same seed. */
export type Pick = (limit: number) => number;

export interface TypeOptions<State> {
  /** As `typeUrlOf` knows it. */
  readonly kind: string;
  readonly first: State;
  /** Another valid state; `version` appears nowhere else. */
  next(pick: Pick, version: string): State;
  resources(state: State): readonly object[];
  /** Each is refused, by the rules of the API or by what it means. */
  readonly bad: readonly object[];
  /** Is refused by itself: the good resources that come with it are taken. */
  readonly badAlone?: object;
  /**
   * What a refused answer leaves out is removed all the same, where answers say the whole state.
   */
  readonly refusalsRemove?: boolean;
  /** What the state should look like from outside, in the form that `seen` gives. */
  expected(state: State): unknown;
  seen(sluice: Sluice): Promise<unknown>;
}

/** An answer that is refused, and what it leaves in force. */
interface BadAnswer {
  readonly resources: readonly object[];
  readonly taken: () => void;
}

export interface FuzzedType {
  readonly kind: string;
  /** What was said last, for every stream that asks. */
  readonly resources: readonly object[];
  readonly version: string;
  readonly refusalsRemove: boolean;
  change(pick: Pick, version: string): void;
  /** Says something that it has said before. */
  goBack(pick: Pick): void;
  /**
   * Incrementally it is one resource: the control plane would not know what was taken beside it.
   */
  bad(pick: Pick, version: string, isDelta: boolean): BadAnswer;
  /** New streams are told everything again. */
  streamsEnded(): void;
  /** Throws when what is seen is not what was accepted last. */
  check(sluice: Sluice): Promise<void>;
}

interface Said<State> {
  readonly version: string;
  readonly state: State;
}

const HISTORY_LIMIT = 20;

export function fuzzedType<State>(options: TypeOptions<State>): FuzzedType {
  const { kind, bad, badAlone } = options;
  let said: Said<State> = { version: '0', state: options.first };
  /** In force though it was said in an answer that was refused. */
  let beside: State | undefined;
  const history: Said<State>[] = [said];
  const say = (next: Said<State>): void => {
    said = next;
    beside = undefined;
  };
  return {
    kind,
    refusalsRemove: options.refusalsRemove ?? false,
    get resources() {
      return options.resources(said.state);
    },
    get version() {
      return said.version;
    },
    change: (pick, version) => {
      say({ version, state: options.next(pick, version) });
      history.push(said);
      if (history.length > HISTORY_LIMIT) history.shift();
    },
    goBack: (pick) => say(history[pick(history.length)] ?? said),
    bad: (pick, version, isDelta) => {
      const one = bad[pick(bad.length)] ?? {};
      if (badAlone === undefined || pick(2) === 0) {
        return { resources: [one], taken: () => undefined };
      }
      if (isDelta) return { resources: [badAlone], taken: () => undefined };
      const state = options.next(pick, version);
      return {
        resources: [...options.resources(state), badAlone],
        taken: () => {
          beside = state;
        },
      };
    },
    streamsEnded: () => {
      beside = undefined;
    },
    check: async (sluice) => {
      const state = beside ?? said.state;
      assert.deepEqual(await options.seen(sluice), options.expected(state), kind);
    },
  };
}
